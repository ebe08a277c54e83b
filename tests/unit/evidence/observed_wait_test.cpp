#include <catch2/catch.hpp>

#include <poll.h>

#include <distrun/runner/evidence/waits/observed_wait.hpp>

#include "cast.hpp"
#include "loopback.hpp"

using namespace distrun;
using namespace distrun::evidence;
using testing::Actor;
using testing::gets_to;
using testing::with_fd;
using wire::WaitObject;

namespace {

wire::ObservedWait observed(const Connections& all, const Blocked& blocked) {
  return observed_wait(all, Names(all, {blocked}), blocked);
}

wire::ObservedWait observed(const Blocked& blocked) { return observed({}, blocked); }

wire::ObservedWait look_for_wait(pid_t pid) {
  const Connections all = find_connections({pid});
  return observed(all, testing::look_at(pid, all));
}

Blocked in(BlockKind kind, const std::string& call) {
  Blocked blocked;
  blocked.pid = 10;
  blocked.tid = 11;
  blocked.state = 'S';
  blocked.kind = kind;
  blocked.call = call;
  return blocked;
}

// Process 10 reads from a pipe that process 20 writes.
struct Reader {
  Connections all;
  Blocked blocked = in(BlockKind::Descriptors, "read(5)");

  Reader() {
    Descriptor end;
    end.fd = 5;
    end.kind = DescriptorKind::Pipe;
    end.id.inode = 77;
    end.reads = true;
    all.processes = {{10, "reader", {10, {end}, false, ""}}};
    all.others[20] = "20 (writer)";
    Connection pipe;
    pipe.id.inode = 77;
    pipe.sides[0].ends = {{10, 5}};
    pipe.sides[1].ends = {{20, 1}};
    all.list = {pipe};
    blocked.fds = {{5, true, false}};
    blocked.peers = {20};
  }
  wire::ObservedWait wait() const { return observed(all, blocked); }
};

}  // namespace

TEST_CASE("a reader of a pipe waits for the processes with the writing end") {
  const wire::ObservedWait wait = Reader().wait();
  CHECK(wait.object == WaitObject::Pipe);
  CHECK(wait.name == "pipe 77");
  CHECK(wait.key == "pipe:0:77");
  CHECK(wait.call == "read(5)");
  CHECK(wait.note == "writing end held by 20 (writer) fd 1");
  REQUIRE(wait.enders.size() == 1);
  CHECK((wait.enders[0].pid == 20 && wait.enders[0].tid == 0));
  CHECK(wait.enders[0].name == "20 (writer)");
  CHECK(wait.closed);
}

TEST_CASE("a wait is not closed if a timeout or a process that was not seen may end it") {
  Reader reader;
  SECTION("a timeout") {
    reader.blocked.bounded = true;
    reader.blocked.limit = "1.5 s";
    CHECK(reader.wait().limit == "1.5 s");
  }
  SECTION("not all processes were searched") { reader.all.others_cut = true; }
  SECTION("a process with hidden descriptors may have inherited the end") { reader.all.hidden_heirs = true; }
  SECTION("no holder is known") {
    reader.all.list[0].sides[1].ends.clear();
    reader.blocked.peers.clear();
  }
  CHECK_FALSE(reader.wait().closed);
}

TEST_CASE("a parent waits for its child, or for any of its children") {
  Blocked blocked = in(BlockKind::Child, "wait4(20)");
  blocked.pids = blocked.peers = {20};
  CHECK(observed(blocked).object == WaitObject::Child);
  CHECK(observed(blocked).name == "child 20");
  CHECK(observed(blocked).key == "process:20");
  CHECK(observed(blocked).closed);
  blocked.pids = blocked.peers = {20, 21};
  CHECK(observed(blocked).name == "one of its children");
  CHECK(observed(blocked).enders.size() == 2);
  blocked.pids.clear();
  blocked.peers.clear();
  CHECK(observed(blocked).note == "it has no child");
  CHECK_FALSE(observed(blocked).closed);
}

TEST_CASE("a file lock has its holder, and its key is that of the file") {
  Blocked blocked = in(BlockKind::FileLock, "fcntl(3)");
  blocked.lock = "/tmp/x";
  blocked.lock_key = "08:01:1234";
  blocked.pids = blocked.peers = {20};
  const wire::ObservedWait wait = observed(blocked);
  CHECK(wait.object == WaitObject::FileLock);
  CHECK(wait.name == "lock of /tmp/x");
  CHECK(wait.key == "file:08:01:1234");
  CHECK(wait.closed);
}

TEST_CASE("a futex of one process can be woken by any of its threads") {
  Blocked blocked = in(BlockKind::Futex, "futex(0x1000)");
  blocked.lock = "a futex of its own at 0x1000";
  blocked.lock_key = "10:0x1000";
  const wire::ObservedWait wait = observed(blocked);
  CHECK(wait.object == WaitObject::Unknown);
  CHECK(wait.key == "futex:10:0x1000");
  REQUIRE(wait.enders.size() == 1);
  CHECK((wait.enders[0].pid == 10 && wait.enders[0].tid == 0));
  CHECK(wait.closed);
  blocked.owner = 12;
  blocked.pids = blocked.peers = {10};
  CHECK(observed(blocked).object == WaitObject::Mutex);
  CHECK(observed(blocked).name == "mutex 0x1000");
  CHECK(observed(blocked).enders[0].tid == 12);
}

TEST_CASE("a mutex of several processes has its owner, or the end of its owner") {
  Blocked blocked = in(BlockKind::Futex, "futex(0x1000)");
  blocked.is_shared = true;
  blocked.lock = "shared memory /dev/shm/x + 0x40";
  blocked.lock_key = "00:17:9:0x40";
  CHECK(observed(blocked).object == WaitObject::Unknown);
  CHECK_FALSE(observed(blocked).closed);
  SECTION("it lives") {
    blocked.owner = 21;
    blocked.pids = blocked.peers = {20};
    const wire::ObservedWait wait = observed(blocked);
    CHECK(wait.object == WaitObject::SharedMutex);
    CHECK((wait.enders[0].pid == 20 && wait.enders[0].tid == 21 && wait.closed));
  }
  SECTION("it has exited") {
    blocked.lock_note = "its owner, thread 21, has exited";
    const wire::ObservedWait wait = observed(blocked);
    CHECK(wait.object == WaitObject::SharedMutex);
    CHECK((wait.enders.empty() && wait.closed));
    CHECK(wait.note == blocked.lock_note);
  }
}

TEST_CASE("a join waits for its thread alone") {
  Blocked blocked = in(BlockKind::Thread, "futex(0x1000)");
  blocked.owner = 12;
  blocked.lock = "thread 12 (worker)";
  const wire::ObservedWait wait = observed(blocked);
  CHECK(wait.object == WaitObject::ThreadEnd);
  CHECK((wait.enders.size() == 1 && wait.enders[0].tid == 12 && wait.closed));
}

TEST_CASE("sleeps, signals and other calls wait for no process") {
  Blocked sleep = in(BlockKind::Sleep, "clock_nanosleep");
  sleep.bounded = true;
  CHECK(observed(sleep).object == WaitObject::Timer);
  CHECK(observed(sleep).limit == "a fixed time");
  CHECK(observed(in(BlockKind::Signal, "pause")).object == WaitObject::Signal);
  CHECK(observed(in(BlockKind::Other, "openat(/x)")).object == WaitObject::Other);
  for (const BlockKind kind : {BlockKind::Signal, BlockKind::Other, BlockKind::None, BlockKind::Unknown}) {
    CHECK_FALSE(observed(in(kind, "")).closed);
    CHECK(observed(in(kind, "")).enders.empty());
  }
}

TEST_CASE("a thread that is stopped or uninterruptible says so, and one that runs waits for nothing") {
  Blocked blocked = in(BlockKind::Child, "wait4(20)");
  blocked.state = 'D';
  blocked.kernel_function = "nfs_wait";
  CHECK(observed(blocked).note == "it has no child; uninterruptible in the kernel function nfs_wait");
  CHECK(observed(in(BlockKind::None, "")).object == WaitObject::None);
}

TEST_CASE("an event loop waits for the processes behind its descriptors") {
  base::FdPair one = base::make_pipe();
  base::FdPair two = base::make_socket_pair(SOCK_STREAM);
  const int fds[] = {one.first.get(), two.first.get()};
  const Actor poller({fds[0], fds[1]}, [&] {
    pollfd wanted[] = {{fds[0], POLLIN, 0}, {fds[1], POLLIN, 0}};
    ::poll(wanted, 2, -1);
  });
  one.first.reset();
  two.first.reset();
  REQUIRE(testing::eventually(testing::kLongWait, [&] {
    return testing::look_at(poller.pid()).call.find("poll of 2 descriptors") != std::string::npos;
  }));
  const wire::ObservedWait wait = look_for_wait(poller.pid());
  CHECK(wait.object == WaitObject::Events);
  CHECK(wait.name == "2 descriptors");
  REQUIRE(wait.enders.size() == 1);
  CHECK(wait.enders[0].pid == ::getpid());
  CHECK(wait.note.find("pipe ") != std::string::npos);
}

TEST_CASE("a thread that accepts waits at a listening socket, and any process may connect") {
  testing::Loopback loopback;
  loopback.accept();
  const Actor server({loopback.listener.get()}, [&] { ::accept(loopback.listener.get(), nullptr, nullptr); });
  REQUIRE(gets_to(server.pid(), "accept"));
  const wire::ObservedWait wait = look_for_wait(server.pid());
  CHECK(wait.object == WaitObject::Listener);
  CHECK(wait.name.starts_with("connections to tcp socket 127.0.0.1:"));
  CHECK_FALSE(wait.closed);
}

TEST_CASE("a receiver on TCP waits for the process with the other end") {
  testing::Loopback loopback;
  loopback.accept();
  const int fd = loopback.client.get();
  const Actor reader({fd}, [&] { testing::read_byte(fd); });
  loopback.client.reset();
  REQUIRE(gets_to(reader.pid(), with_fd("read", fd)));
  const wire::ObservedWait wait = look_for_wait(reader.pid());
  CHECK(wait.object == WaitObject::Socket);
  CHECK(wait.name.starts_with("tcp 127.0.0.1:"));
  REQUIRE(wait.enders.size() == 1);
  CHECK(wait.enders[0].pid == ::getpid());
}
