#include <catch2/catch.hpp>

#include <arpa/inet.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/in.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cstring>

#include <distrun/runner/evidence/proc/sockets.hpp>

#include "cast.hpp"
#include "loopback.hpp"

using namespace distrun;
using namespace distrun::evidence;
using base::Fd;

namespace {

std::uint64_t inode_of(const Fd& fd) {
  struct stat status {};
  ::fstat(fd.get(), &status);
  return status.st_ino;
}

Socket find(const SocketTable& table, const Fd& fd) {
  const Socket* socket = table.find(inode_of(fd));
  REQUIRE(socket != nullptr);
  return *socket;
}

constexpr const char* kTcp =
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
    "   0: 0100007F:1388 00000000:0000 0A 00000000:00000002 00:00000000 00000000     0        0 637 1 0 100 0\n"
    "   1: 0100007F:1388 0100007F:A028 01 00000000:0000000C 00:00000000 00000000     0        0 700 1 0 100 0\n"
    "   2: 0100007F:A028 0100007F:1388 01 00000010:00000000 00:00000000 00000000     0        0 701 1 0 100 0\n"
    "   3: 0100007F:A029 0100007F:1388 01 00000000:00000000 00:00000000 00000000     0        0 702 1 0 100 0\n"
    "   4: 0100007F:1388 0100007F:A029 01 00000000:00000000 00:00000000 00000000     0        0 0 1 0 100 0\n"
    "   5: 0100007F:A02A 08080808:0050 01 00000000:00000000 00:00000000 00000000     0        0 703 1 0 100 0\n";

std::string bytes_of(const void* value, std::size_t size) { return std::string(static_cast<const char*>(value), size); }

std::string diag(const nlmsghdr& header, const std::string& body) { return bytes_of(&header, sizeof header) + body; }

}  // namespace

TEST_CASE("both ends of a connection on this machine are found by their addresses") {
  std::vector<Socket> sockets = parse_inet_table(kTcp, SocketKind::Tcp);
  REQUIRE(sockets.size() == 6);
  match_inet(sockets);
  CHECK(sockets[0].state == SocketState::Listening);
  CHECK(sockets[0].name == "127.0.0.1:5000");
  CHECK(sockets[0].to_read == 2);
  CHECK(sockets[0].peer == 0);
  CHECK(sockets[1].peer == 701);
  CHECK(sockets[1].to_read == 12);
  CHECK(sockets[2].peer == 700);
  CHECK(sockets[2].to_send == 16);
  CHECK(sockets[2].peer_name == "127.0.0.1:5000");
}

TEST_CASE("a connection that was not accepted belongs to the listener, and a remote one has no local peer") {
  std::vector<Socket> sockets = parse_inet_table(kTcp, SocketKind::Tcp);
  match_inet(sockets);
  CHECK(sockets[3].unaccepted);
  CHECK(sockets[3].peer == 637);
  CHECK_FALSE(sockets[5].unaccepted);
  CHECK(sockets[5].peer == 0);
  CHECK(sockets[5].peer_name == "8.8.8.8:80");
}

TEST_CASE("a connection to another machine is not that of a listener on the same port here") {
  // Listens on port 5000 of any address; connects to port 5000 of 10.0.0.2, of 10.0.0.1 from there, and of 127.0.0.2.
  std::vector<Socket> sockets = parse_inet_table(
      "   0: 00000000:1388 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 637 1 0 100 0\n"
      "   1: 0100000A:A028 0200000A:1388 02 00000000:00000000 01:00000000 00000000     0        0 700 1 0 100 0\n"
      "   2: 0100000A:A029 0100000A:1388 02 00000000:00000000 01:00000000 00000000     0        0 701 1 0 100 0\n"
      "   3: 0100007F:A02A 0200007F:1388 02 00000000:00000000 01:00000000 00000000     0        0 702 1 0 100 0\n",
      SocketKind::Tcp);
  REQUIRE(sockets.size() == 4);
  match_inet(sockets);
  CHECK(sockets[1].peer == 0);
  CHECK_FALSE(sockets[1].unaccepted);
  CHECK(sockets[2].peer == 637);
  CHECK(sockets[3].peer == 637);
}

TEST_CASE("a v4 address inside v6 is read as the v4 address") {
  const auto sockets = parse_inet_table(
      "0: 0000000000000000FFFF00000100007F:1388 00000000000000000000000001000000:A028 01 0:0 0:0 0 0 0 9 1\n",
      SocketKind::Tcp);
  REQUIRE(sockets.size() == 1);
  CHECK(sockets[0].name == "127.0.0.1:5000");
  CHECK(sockets[0].peer_name == "[::1]:41000");
}

TEST_CASE("invalid lines of a socket table are skipped") {
  for (const char* text :
       {"", "\n\n", "0:", "0: x y z", "0: 0100007F 0100007F 01 0:0 0:0 0 0 0 9",
        "0: 0100007F:12345 0100007F:1 01 0:0 0:0 0 0 0 9", "0: 0100007:1 0100007F:1 01 0:0 0:0 0 0 0 9",
        "0: 0100007F:1 0100007F:1 1FF 0:0 0:0 0 0 0 9", "0: 0100007F:1 0100007F:1 01 00 0:0 0 0 0 9",
        "0: 0100007F:1 0100007F:1 01 0:0 0:0 0 0 0 -9", "0: GG00007F:1 0100007F:1 01 0:0 0:0 0 0 0 9"}) {
    CHECK(parse_inet_table(text, SocketKind::Tcp).empty());
  }
}

TEST_CASE("a truncated answer of the kernel is read only up to its end") {
  unix_diag_msg message{};
  message.udiag_ino = 77;
  message.udiag_state = 1;
  const std::uint32_t peer[3] = {8U | (std::uint32_t{UNIX_DIAG_PEER} << 16), 78, 0};  // length and type, then the value
  nlmsghdr header{};
  header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  header.nlmsg_len = sizeof header + sizeof message + 8;
  const std::string whole = diag(header, bytes_of(&message, sizeof message) + bytes_of(peer, 8));
  SocketTable table;
  std::vector<Waiting> waiting;
  CHECK(parse_unix_diag(whole, table, waiting));
  REQUIRE(table.find(77) != nullptr);
  CHECK(table.find(77)->peer == 78);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    SocketTable cut;
    parse_unix_diag(whole.substr(0, size), cut, waiting);
    CHECK(cut.sockets.empty());
  }
}

TEST_CASE("attributes and messages with a wrong length are not followed") {
  unix_diag_msg message{};
  message.udiag_ino = 77;
  SocketTable table;
  std::vector<Waiting> waiting;
  for (const std::uint32_t length : {0U, 3U, 9U, 0xffffU}) {
    const std::uint32_t attribute[2] = {length | (std::uint32_t{UNIX_DIAG_NAME} << 16), 0};
    nlmsghdr header{};
    header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
    header.nlmsg_len = sizeof header + sizeof message + sizeof attribute;
    const std::string body = bytes_of(&message, sizeof message) + bytes_of(attribute, sizeof attribute);
    CHECK(parse_unix_diag(diag(header, body), table, waiting));
    header.nlmsg_len = length;
    CHECK_FALSE(parse_unix_diag(diag(header, body).substr(0, 40), table, waiting));
  }
  CHECK(table.sockets.size() == 1);
}

TEST_CASE("a refusal of the kernel is reported") {
  nlmsghdr header{};
  header.nlmsg_type = NLMSG_ERROR;
  header.nlmsg_len = sizeof header + sizeof(int);
  const int error = -EPERM;
  SocketTable table;
  std::vector<Waiting> waiting;
  CHECK_FALSE(parse_unix_diag(diag(header, bytes_of(&error, sizeof error)), table, waiting));
  REQUIRE(table.notes.size() == 1);
  CHECK(table.notes[0].find("EPERM") != std::string::npos);
}

TEST_CASE("the ends of a socket pair know each other, and the unread bytes") {
  const base::FdPair pair = base::make_socket_pair(SOCK_STREAM);
  REQUIRE(::write(pair.first.get(), "hello, world", 12) == 12);
  const SocketTable table = read_sockets({});
  CHECK(find(table, pair.first).peer == inode_of(pair.second));
  CHECK(find(table, pair.second).peer == inode_of(pair.first));
  CHECK(find(table, pair.second).to_read == 12);
  CHECK(find(table, pair.first).to_read == 0);
}

TEST_CASE("without TCP and UDP, only unix sockets are read") {
  const testing::Loopback loopback;
  const base::FdPair pair = base::make_socket_pair(SOCK_STREAM);
  const SocketTable table = read_sockets({}, false);
  CHECK(find(table, pair.first).peer == inode_of(pair.second));
  CHECK(table.find(inode_of(loopback.listener)) == nullptr);
}

TEST_CASE("a socket with a closed other end is reported as such") {
  base::FdPair pair = base::make_socket_pair(SOCK_STREAM);
  pair.second.reset();
  const Socket left = find(read_sockets({}), pair.first);
  CHECK(left.peer == 0);
  CHECK(left.state == SocketState::PeerClosed);
}

TEST_CASE("a unix connection that is not accepted yet belongs to the listener") {
  const Fd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = "distrun-sockets-test-" + std::to_string(::getpid());
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  REQUIRE(::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), size) == 0);
  REQUIRE(::listen(listener.get(), 5) == 0);
  const Fd client(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  REQUIRE(::connect(client.get(), reinterpret_cast<sockaddr*>(&address), size) == 0);
  const SocketTable table = read_sockets({});
  CHECK(find(table, listener).state == SocketState::Listening);
  CHECK(find(table, listener).name == "@" + name);
  CHECK(find(table, listener).to_read == 1);
  CHECK(find(table, client).unaccepted);
  CHECK(find(table, client).peer == inode_of(listener));
}

TEST_CASE("a TCP connection over loopback has two ends, before and after it is accepted") {
  testing::Loopback loopback;
  const SocketTable before = read_sockets({});
  CHECK(find(before, loopback.client).unaccepted);
  CHECK(find(before, loopback.client).peer == inode_of(loopback.listener));
  loopback.accept();
  REQUIRE(::write(loopback.client.get(), "12345", 5) == 5);
  SocketTable after;
  CHECK(testing::eventually(testing::kLongWait, [&] {
    after = read_sockets({});
    return find(after, loopback.server).to_read == 5;
  }));
  CHECK(find(after, loopback.client).peer == inode_of(loopback.server));
  CHECK(find(after, loopback.server).peer == inode_of(loopback.client));
  CHECK_FALSE(find(after, loopback.client).unaccepted);
}
