#include <catch2/catch.hpp>

#include <sys/stat.h>

#include <distrun/runner/evidence/waits/connections.hpp>

#include "cast.hpp"
#include "loopback.hpp"
#include "support/scratch.hpp"

using namespace distrun;
using namespace distrun::evidence;
using base::Fd;
using testing::Actor;
using testing::gets_to;

namespace {

void settle(const Actor& actor) { REQUIRE(gets_to(actor.pid(), "rt_sigsuspend")); }

}  // namespace

TEST_CASE("a pipe has readers and writers, in the processes asked for and in others") {
  base::FdPair pipe = base::make_pipe();
  const int in = pipe.first.get();
  const int out = pipe.second.get();
  const Actor reader({in}, testing::rest);
  const Actor writer({out}, testing::rest);
  const Actor stranger({out}, testing::rest);
  pipe = {};
  for (const Actor* actor : {&reader, &writer, &stranger}) settle(*actor);
  const Connections all = find_connections({writer.pid(), reader.pid(), reader.pid()});
  CHECK(all.processes.size() == 2);
  const Connection* found = all.find(reader.pid(), in);
  REQUIRE(found != nullptr);
  CHECK(found == all.find(writer.pid(), out));
  CHECK(found->sides[0].ends == std::vector<End>{{reader.pid(), in}});
  CHECK(found->sides[1].ends == std::vector<End>{{writer.pid(), out}, {stranger.pid(), out}});
  CHECK(all.others.count(stranger.pid()) == 1);
  CHECK(other_side(all, reader.pid(), in, true) == std::vector<pid_t>{writer.pid(), stranger.pid()});
  CHECK(other_side(all, writer.pid(), out, false) == std::vector<pid_t>{reader.pid()});
}

TEST_CASE("a named pipe connects the processes that opened it") {
  const testing::Scratch scratch;
  const std::string path = scratch.path() + "/fifo";
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  base::Fd both(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  const Fd in(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const Actor reader({in.get()}, testing::rest);
  const Actor writer({}, [&] {
    const Fd out(::open(path.c_str(), O_WRONLY));
    testing::rest();
  });
  both.reset();
  settle(reader);
  settle(writer);
  const Connections all = find_connections({reader.pid()});
  const Connection* found = all.find(reader.pid(), in.get());
  REQUIRE(found != nullptr);
  CHECK(describe(*found) == "pipe " + path);
  REQUIRE(found->sides[1].ends.size() == 1);
  CHECK(found->sides[1].ends[0].pid == writer.pid());
}

TEST_CASE("a socket pair connects two processes, with the bytes in flight") {
  base::FdPair pair = base::make_socket_pair(SOCK_STREAM);
  const int left = pair.first.get();
  const int right = pair.second.get();
  REQUIRE(::write(left, "hello, world", 12) == 12);
  const Actor one({left}, testing::rest);
  const Actor other({right}, testing::rest);
  pair = {};
  settle(one);
  settle(other);
  const Connections all = find_connections({one.pid(), other.pid()});
  const Connection* found = all.find(one.pid(), left);
  REQUIRE(found != nullptr);
  CHECK(found == all.find(other.pid(), right));
  const bool first = found->sides[0].inode == all.descriptor(other.pid(), right)->id.inode;
  CHECK(found->sides[first ? 0 : 1].to_read == 12U);
  CHECK(other_side(all, one.pid(), left, true) == std::vector<pid_t>{other.pid()});
  CHECK(other_side(all, other.pid(), right, false) == std::vector<pid_t>{one.pid()});
}

TEST_CASE("a TCP connection connects two processes of this machine") {
  testing::Loopback loopback;
  loopback.accept();
  const Actor client({loopback.client.get()}, testing::rest);
  const Actor server({loopback.server.get()}, testing::rest);
  const int at_client = loopback.client.get();
  loopback.client.reset();
  loopback.server.reset();
  settle(client);
  settle(server);
  const Connections all = find_connections({client.pid(), server.pid()});
  const Connection* found = all.find(client.pid(), at_client);
  REQUIRE(found != nullptr);
  CHECK(found->kind == ConnectionKind::Tcp);
  CHECK_FALSE(found->remote);
  CHECK(describe(*found).find("tcp 127.0.0.1:") == 0);
  CHECK(other_side(all, client.pid(), at_client, true) == std::vector<pid_t>{server.pid()});
}

TEST_CASE("a connection that was not accepted leads to the listening process") {
  testing::Loopback loopback;
  const Actor client({loopback.client.get()}, testing::rest);
  const Actor server({loopback.listener.get()}, testing::rest);
  const int at_client = loopback.client.get();
  loopback.client.reset();
  loopback.listener.reset();
  settle(client);
  settle(server);
  const Connections all = find_connections({client.pid()});
  const Connection* found = all.find(client.pid(), at_client);
  REQUIRE(found != nullptr);
  CHECK(found->unaccepted);
  CHECK(other_side(all, client.pid(), at_client, true) == std::vector<pid_t>{server.pid()});
}

TEST_CASE("an end with a closed other side is a connection without a peer") {
  base::FdPair pair = base::make_socket_pair(SOCK_STREAM);
  base::FdPair pipe = base::make_pipe();
  const int socket = pair.first.get();
  const int out = pipe.second.get();
  const Actor actor({socket, out}, testing::rest);
  pair = {};
  pipe = {};
  settle(actor);
  const Connections all = find_connections({actor.pid()});
  REQUIRE(all.find(actor.pid(), socket) != nullptr);
  CHECK(all.find(actor.pid(), socket)->sides[1].inode == 0);
  REQUIRE(all.find(actor.pid(), out) != nullptr);
  CHECK(all.find(actor.pid(), out)->sides[0].ends.empty());
  CHECK(other_side(all, actor.pid(), socket, true).empty());
}

TEST_CASE("a process that does not exist is reported, and the others are still examined") {
  const pid_t gone = testing::fork_child([] { return 0; });
  testing::wait_for(gone);
  const Connections all = find_connections({gone, ::getpid()});
  CHECK(all.processes.size() == 2);
  REQUIRE(all.notes.size() == 1);
  CHECK(all.notes[0].find("no such process") != std::string::npos);
  CHECK_FALSE(all.process(::getpid())->descriptors.list.empty());
  CHECK(all.find(::getpid(), 12'345) == nullptr);
  CHECK(all.find(1, 0) == nullptr);
  CHECK(find_connections({}).list.empty());
}
