// Hosts that scripts/cluster imitates for tests: what each has for itself, what it shares, and that nothing is left.
#include <arpa/inet.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

#include <distrun/common/base/fd.hpp>

#include "support/hosts.hpp"
#include "support/sandbox.hpp"
#include "support/scratch.hpp"
#include "support/skip.hpp"
#include "unit/support/forked.hpp"

namespace distrun::testing {
namespace {

using base::Fd;

constexpr milliseconds kNotice{2'000};

void skip_without_hosts() { skip_case_if(!hosts_possible(), why_no_hosts()); }

// Runs a shell's command on the host; returns what it prints.
std::string output_of(const ImitatedHosts& hosts, const std::string& host, const std::string& command) {
  const Scratch scratch;
  const Ended ended =
      hosts.run(host, {"/bin/sh", {"-c", command}, {"PATH=/usr/bin:/bin"}, "/", scratch.path() + "/sh"});
  INFO(ended.err);
  CHECK(ended.exit_code == 0);
  return ended.out;
}

sockaddr_in address_at(const std::string& numeric, in_port_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = port;
  inet_pton(AF_INET, numeric.c_str(), &address.sin_addr);
  return address;
}

struct Listening {
  Fd socket;
  in_port_t port = 0;  // in the network's byte order
};

Listening listen_on(const ImitatedHosts& hosts, const std::string& host) {
  const InNetworkOf network(hosts, host);
  Listening listening{Fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0))};
  sockaddr_in address = address_at("0.0.0.0", 0);
  socklen_t length = sizeof address;
  if (bind(listening.socket.get(), reinterpret_cast<sockaddr*>(&address), length) != 0 ||
      listen(listening.socket.get(), 8) != 0 ||
      getsockname(listening.socket.get(), reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    throw std::runtime_error("cannot listen on " + host);
  }
  listening.port = address.sin_port;
  return listening;
}

// Connects from `from` to `to`; the result is 0 or an errno. A connection that takes longer than `limit` is ETIMEDOUT.
struct Connected {
  Fd socket;
  int error = 0;
};
Connected connect_hosts(const ImitatedHosts& hosts, const std::string& from, const std::string& to, in_port_t port,
                        milliseconds limit = milliseconds(10'000)) {
  const InNetworkOf network(hosts, from);
  Connected result{Fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0))};
  const sockaddr_in address = address_at(hosts.host(to).address, port);
  if (connect(result.socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return result;
  result.error = errno;
  if (result.error != EINPROGRESS) return result;
  pollfd done{result.socket.get(), POLLOUT, 0};
  result.error = ETIMEDOUT;
  if (poll(&done, 1, static_cast<int>(limit.count())) <= 0) return result;
  socklen_t length = sizeof result.error;
  getsockopt(result.socket.get(), SOL_SOCKET, SO_ERROR, &result.error, &length);
  return result;
}

bool readable(int fd, milliseconds limit) {
  pollfd waiting{fd, POLLIN, 0};
  return poll(&waiting, 1, static_cast<int>(limit.count())) > 0;
}

TEST_CASE("hosts and their head reach each other over TCP") {
  skip_without_hosts();
  const ImitatedHosts hosts(2);
  for (const std::string to : {"head", "node01", "node02"}) {
    const Listening listening = listen_on(hosts, to);
    for (const std::string from : {"head", "node01", "node02"}) {
      INFO("from " << from << " to " << to);
      const Connected connected = connect_hosts(hosts, from, to, listening.port);
      REQUIRE(connected.error == 0);
      sockaddr_in peer{};
      socklen_t length = sizeof peer;
      const Fd accepted(accept(listening.socket.get(), reinterpret_cast<sockaddr*>(&peer), &length));
      REQUIRE(accepted);
      char text[INET_ADDRSTRLEN];
      CHECK(inet_ntop(AF_INET, &peer.sin_addr, text, sizeof text) == hosts.host(from).address);
    }
  }
}

TEST_CASE("hosts are known by their names, and each has a host name") {
  skip_without_hosts();
  const ImitatedHosts hosts(2);
  CHECK(output_of(hosts, "head", "hostname") == "head\n");
  CHECK(output_of(hosts, "node02", "hostname") == "node02\n");
  CHECK(output_of(hosts, "node02", "getent hosts node01 | cut -d' ' -f1") == hosts.host("node01").address + "\n");
  REQUIRE_THROWS_AS(hosts.host("node03"), std::out_of_range);
}

TEST_CASE("each host has folders, processes and a monotonic clock for itself, and shares other files") {
  skip_without_hosts();
  const Scratch scratch;
  write_file(scratch.path() + "/shared", "text");
  const ImitatedHosts hosts(2, {scratch.path()});
  for (const char* folder : {"/tmp", "/dev/shm", "/run"}) {
    output_of(hosts, "node01", std::string("touch ") + folder + "/of-node01");
    const std::string is_there = std::string("test -e ") + folder + "/of-node01 && echo yes || echo no";
    INFO(folder);
    CHECK(output_of(hosts, "node01", is_there) == "yes\n");
    CHECK(output_of(hosts, "node02", is_there) == "no\n");
    CHECK_FALSE(exists(std::string(folder) + "/of-node01"));
  }
  CHECK(output_of(hosts, "node02", "cat " + scratch.path() + "/shared") == "text");
  CHECK(std::stoi(output_of(hosts, "node01", "echo /proc/[0-9]* | wc -w")) <= 4);
  const double first = std::stod(output_of(hosts, "node01", "cut -d' ' -f1 /proc/uptime"));
  const double second = std::stod(output_of(hosts, "node02", "cut -d' ' -f1 /proc/uptime"));
  if (exists("/proc/self/ns/time")) CHECK(second - first > 500);
}

TEST_CASE("abstract Unix sockets of one host are unknown on another") {
  skip_without_hosts();
  const ImitatedHosts hosts(2);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strcpy(address.sun_path + 1, "imitated-hosts-test");
  const auto* name = reinterpret_cast<const sockaddr*>(&address);
  const auto socket_on = [&](const char* host) {
    const InNetworkOf network(hosts, host);
    return Fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  };
  const Fd listening = socket_on("node01");
  REQUIRE(bind(listening.get(), name, sizeof address) == 0);
  REQUIRE(listen(listening.get(), 1) == 0);
  CHECK(connect(socket_on("node01").get(), name, sizeof address) == 0);
  CHECK(connect(socket_on("node02").get(), name, sizeof address) != 0);
  CHECK(errno == ECONNREFUSED);
}

TEST_CASE("programs on a host are started and signalled as local ones are") {
  skip_without_hosts();
  const ImitatedHosts hosts(2);
  const Scratch scratch;
  const Ended ended = hosts.run(
      "node01", {"/bin/sh", {"-c", "pwd; echo $WORD >&2; exit 7"}, {"WORD=w"}, "/usr", scratch.path() + "/sh"});
  CHECK(ended.exit_code == 7);
  CHECK(ended.out == "/usr\n");
  CHECK(ended.err == "w\n");

  Running sleeping = hosts.start("node02", {"/bin/sleep", {"1000"}, {"PATH=/bin"}});
  REQUIRE(eventually(at_latest(kNotice), [&] { return environment_of(sleeping.pid(), "PATH") == "/bin"; }));
  sleeping.signal(SIGTERM);
  CHECK(sleeping.wait(at_latest(milliseconds(10'000))).signal == SIGTERM);
}

TEST_CASE("a link that is down refuses connections, and one that is up again takes them") {
  skip_without_hosts();
  const ImitatedHosts hosts(2);
  const Listening listening = listen_on(hosts, "node02");
  hosts.link_down("node02");
  CHECK(connect_hosts(hosts, "head", "node02", listening.port).error == EHOSTUNREACH);
  CHECK(connect_hosts(hosts, "node01", "node02", listening.port).error == EHOSTUNREACH);
  hosts.link_up("node02");
  CHECK(connect_hosts(hosts, "head", "node02", listening.port).error == 0);
  CHECK(connect_hosts(hosts, "node01", "node02", listening.port).error == 0);
}

TEST_CASE("in a black hole bytes vanish silently both ways, and arrive once it is undone") {
  skip_without_hosts();
  const ImitatedHosts hosts(2);
  const Listening listening = listen_on(hosts, "node02");
  const Connected near = connect_hosts(hosts, "node01", "node02", listening.port);
  REQUIRE(near.error == 0);
  const Fd far(accept(listening.socket.get(), nullptr, nullptr));
  hosts.blackhole("node02");
  CHECK(send(near.socket.get(), "a", 1, MSG_NOSIGNAL) == 1);
  CHECK(send(far.get(), "b", 1, MSG_NOSIGNAL) == 1);
  CHECK_FALSE(readable(far.get(), milliseconds(100)));
  CHECK_FALSE(readable(near.socket.get(), milliseconds(1)));
  CHECK(connect_hosts(hosts, "head", "node02", listening.port, milliseconds(100)).error == ETIMEDOUT);
  hosts.undo("node02");
  CHECK(readable(far.get(), at_latest(milliseconds(5'000))));
  CHECK(readable(near.socket.get(), at_latest(milliseconds(5'000))));
}

TEST_CASE("all processes of a host are killed, and it can be used again") {
  skip_without_hosts();
  const ImitatedHosts hosts(2);
  Running here = hosts.start("node01", {"/bin/sleep", {"1000"}});
  Running there = hosts.start("node02", {"/bin/sleep", {"1000"}});
  hosts.kill_all("node02");
  CHECK(there.wait(at_latest(milliseconds(10'000))).signal == SIGKILL);
  CHECK(output_of(hosts, "node02", "hostname") == "node02\n");
  CHECK_FALSE(here.ends_within(milliseconds(0)));
}

// Returns whether every process with the mark ends.
bool all_end(const std::string& mark) {
  return eventually(at_latest(milliseconds(10'000)), [&] {
    for (const ProcessInfo& info : living_processes()) {
      if (info.pid != getpid() && has_environment(info.pid, mark)) return false;
    }
    return true;
  });
}

TEST_CASE("nothing is left of hosts, whether they are destroyed or their test is killed") {
  skip_without_hosts();
  const Scratch scratch;
  const std::string started = scratch.path() + "/started";
  const std::string mark = "HOSTS_MARK=" + scratch.path();
  const pid_t child = fork_child([&] {
    setenv("HOSTS_MARK", scratch.path().c_str(), 1);
    { const ImitatedHosts gone(1); }
    if (!all_end(mark)) return 1;
    const ImitatedHosts hosts(2);
    const Running sleeping = hosts.start("node01", {"/usr/bin/setsid", {"/bin/sleep", "1000"}, {mark}});
    if (!eventually(at_latest(kNotice), [&] { return has_environment(sleeping.pid(), mark); })) return 2;
    write_file(started, "");
    pause();
    return 3;
  });
  CHECK(eventually(at_latest(milliseconds(20'000)), [&] { return exists(started); }));
  kill(child, SIGKILL);
  CHECK(wait_for(child).signal == SIGKILL);
  CHECK(all_end(mark));
}

}  // namespace
}  // namespace distrun::testing
