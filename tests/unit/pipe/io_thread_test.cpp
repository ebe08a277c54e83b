// Workers connect, no matter which one begins, and are notified of each other's end.
#include <catch2/catch.hpp>

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <agents/pipe/io_thread.hpp>
#include <distrun/runtime/core/shared_memory.hpp>

#include "desk.hpp"
#include "unit/support/forked.hpp"

namespace distrun::agents::pipe {
namespace {

using testing::count_descriptors;
using testing::Desk;

// Sends a text from one socket to the other.
void check_line(const base::Fd& from, const base::Fd& to) {
  REQUIRE(::send(from.get(), "moin", 4, MSG_NOSIGNAL) == 4);
  base::set_nonblocking(to.get(), false);
  char text[4];
  REQUIRE(::recv(to.get(), text, sizeof text, MSG_WAITALL) == 4);
  CHECK(std::string(text, 4) == "moin");
}

TEST_CASE("workers connect over each kind of socket") {
  const std::string transport = GENERATE("uds", "tcp");
  Desk one(1, {transport});
  Desk two(2, {transport});
  for (Desk* desk : {&one, &two}) {
    desk->watches = false;
    desk->io_thread.start();
  }
  one.io_thread.connect(2, "worker2", two.io_thread.address());
  Connection& here = one.connection();
  Connection& there = two.connection();
  CHECK(here.is_connector);
  CHECK(here.peer == 2);
  CHECK(here.peer_name == "worker2");
  CHECK(here.peer_pid == ::getpid());
  CHECK(parse_address(here.peer_address) == parse_address(two.io_thread.address()));
  CHECK(here.transport == transport);
  CHECK(here.channels == std::vector<std::string>{"cma"});
  CHECK_FALSE(there.is_connector);
  CHECK(there.peer == 1);
  CHECK(there.peer_name == "worker1");
  CHECK(there.peer_address == one.io_thread.address());
  CHECK(there.transport == transport);
  check_line(here.socket, there.socket);
  check_line(there.socket, here.socket);
}

TEST_CASE("files are sent in both directions, where memory is shared") {
  Desk one(1);
  Desk two(2);
  for (Desk* desk : {&one, &two}) {
    desk->files.push_back(core::make_memfd("a test", 4096));
    desk->files.push_back(core::make_memfd("a test", 8192));
    desk->io_thread.start();
  }
  one.io_thread.connect(2, "worker2", two.io_thread.address());
  CHECK(one.connection().transport == "shm");
  const auto inode = [](const base::Fd& fd) { return core::address_of(fd.get()).inode; };
  REQUIRE(one.connection().fds.size() == 2);
  REQUIRE(one.connection().own_fds.size() == 2);
  REQUIRE(two.connection().fds.size() == 2);
  CHECK(two.connection().own_fds.empty());
  for (std::size_t i : {0U, 1U}) {
    CHECK(inode(one.connection().fds[i]) == inode(two.files[i]));
    CHECK(inode(two.connection().fds[i]) == inode(one.files[i]));
    CHECK(inode(one.connection().own_fds[i]) == inode(one.files[i]));
  }
  CHECK((::fcntl(two.connection().fds[0].get(), F_GETFD) & FD_CLOEXEC) != 0);
}

TEST_CASE("transports that do not work over a Unix socket are tried over TCP") {
  Desk one(1, {"shm", "tcp"});
  Desk two(2, {"uds", "tcp"});
  one.io_thread.start();
  two.io_thread.start();
  one.io_thread.connect(2, "worker2", two.io_thread.address());
  CHECK(one.connection().transport == "tcp");
  CHECK(two.connection().transport == "tcp");
  CHECK(reasons(two.connection().not_taken) == "uds: not offered by the peer; shm: not offered by this worker");
}

TEST_CASE("workers without a common transport say so") {
  Desk one(1, {"shm"});
  Desk two(2, {"uds"});
  Desk three(3, {"tcp"});
  for (Desk* desk : {&one, &two, &three}) desk->io_thread.start();
  one.io_thread.connect(2, "worker2", two.io_thread.address());
  CHECK_THAT(one.failure(), Catch::Contains("worker2 refuses at uds:distrun-rpc-") &&
                                Catch::EndsWith("no transport fits: uds: not offered by the peer; shm: not offered by "
                                                "this worker"));
  three.io_thread.connect(2, "worker2", two.io_thread.address());
  CHECK_THAT(three.failure(), Catch::StartsWith("worker2 is at uds:distrun-rpc-") &&
                                  Catch::EndsWith(", which no transport of this worker can reach"));
}

TEST_CASE("two workers that connect to each other at once have one connection") {
  for (int i = 0; i < 200; ++i) {
    Desk one(1, {"uds"});
    Desk two(2, {"uds"});
    for (Desk* desk : {&one, &two}) {
      desk->watches = false;
      desk->io_thread.start();
    }
    one.io_thread.connect(2, "worker2", two.io_thread.address());
    two.io_thread.connect(1, "worker1", one.io_thread.address());
    const Connection& here = one.connection();
    const Connection& there = two.connection();
    REQUIRE(here.is_connector != there.is_connector);
    check_line(here.socket, there.socket);
    one.io_thread.close();
    two.io_thread.close();
    REQUIRE(one.connections.size() == 1);
    REQUIRE(two.connections.size() == 1);
    REQUIRE(one.failures.empty());
    REQUIRE(two.failures.empty());
  }
}

TEST_CASE("a second attempt changes nothing, a new one after the end connects again") {
  Desk one(1, {"uds"});
  Desk two(2, {"uds"});
  one.io_thread.start();
  two.io_thread.start();
  one.io_thread.connect(2, "worker2", two.io_thread.address());
  one.io_thread.connect(2, "worker2", two.io_thread.address());
  (void)one.connection();
  one.io_thread.connect(2, "worker2", two.io_thread.address());
  (void)two.connection();
  two.io_thread.forget(1);
  two.connections.clear();
  CHECK(one.end() == "the peer closed the connection");
  one.io_thread.connect(2, "worker2", two.io_thread.address());
  CHECK(one.comes([](const Desk& desk) { return desk.connections.size() == 2; }));
  CHECK(one.failures.empty());
}

TEST_CASE("a connection is watched, even if an earlier one of its peer is forgotten while it begins") {
  Desk one(1, {"uds"});
  Desk two(2, {"uds"});
  two.forgets = true;
  one.io_thread.start();
  two.io_thread.start();
  one.io_thread.connect(2, "worker2", two.io_thread.address());
  REQUIRE(::send(one.connection().socket.get(), "x", 1, MSG_NOSIGNAL) == 1);
  CHECK(two.comes([](const Desk& desk) { return desk.times_readable > 0; }));
  one.io_thread.forget(2);
  one.connections.clear();
  CHECK(two.end() == "the peer closed the connection");
}

TEST_CASE("an attempt to reach a worker replaces one to reach its predecessor") {
  const Listener silent(true, "");
  Desk one(1, {"uds"});
  Desk two(2, {"uds"});
  one.io_thread.start();
  two.io_thread.start();
  one.io_thread.connect({2, 1}, "worker2", to_string(silent.address()));
  one.io_thread.connect({2, 2}, "worker2", two.io_thread.address());
  CHECK(one.connection().incarnation == 2);
}

TEST_CASE("an end is reported once all data sent before is read") {
  Desk one(1, {"uds"});
  Desk two(2, {"uds"});
  one.io_thread.start();
  two.io_thread.start();
  one.io_thread.connect(2, "worker2", two.io_thread.address());
  (void)two.connection();
  std::vector<char> bytes(10'000);
  REQUIRE(::send(one.connection().socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) == 10'000);
  one.io_thread.forget(2);
  one.connections.clear();
  CHECK(two.end() == "the peer closed the connection");
  CHECK(two.times_readable >= 3);
}

TEST_CASE("bytes over the socket of a shared-memory stream end it") {
  Desk one(1);
  Desk two(2);
  one.files.push_back(core::make_memfd("a test", 4096));
  one.io_thread.start();
  two.io_thread.start();
  one.io_thread.connect(2, "worker2", two.io_thread.address());
  (void)two.connection();
  REQUIRE(one.connection().transport == "shm");
  REQUIRE(::send(one.connection().socket.get(), "x", 1, MSG_NOSIGNAL) == 1);
  CHECK(two.end() == "the peer sent data on a socket that only signals its end");
}

TEST_CASE("free space is reported once for each time that it is requested") {
  Desk one(1, {"uds"});
  Desk two(2, {"uds"});
  two.watches = false;
  one.io_thread.start();
  two.io_thread.start();
  one.io_thread.connect(2, "worker2", two.io_thread.address());
  const int socket = one.connection().socket.get();
  const std::vector<char> bytes(100'000);
  std::size_t sent = 0;
  for (ssize_t count = 0; (count = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT)) > 0;) {
    sent += static_cast<std::size_t>(count);
  }
  CHECK(one.comes([](const Desk& desk) { return desk.times_writable == 0; }));
  one.io_thread.want_writable(2);
  std::vector<char> all(sent);
  base::set_nonblocking(two.connection().socket.get(), false);
  REQUIRE(::recv(two.connection().socket.get(), all.data(), sent, MSG_WAITALL) == static_cast<ssize_t>(sent));
  CHECK(one.comes([](const Desk& desk) { return desk.times_writable == 1; }));
  one.io_thread.want_writable(2);
  CHECK(one.comes([](const Desk& desk) { return desk.times_writable == 2; }));
}

TEST_CASE("the timer fires when it is due, and the earlier of two times counts") {
  Desk one(1, {"uds"});
  one.io_thread.set_timer(base::system_clock().now() + std::chrono::hours(1));
  one.io_thread.start();
  const base::TimePoint due = base::system_clock().now() + std::chrono::milliseconds(20);
  one.io_thread.set_timer(due);
  CHECK(one.comes([](const Desk& desk) { return desk.timers == 1; }));
  CHECK(base::system_clock().now() >= due);
  one.io_thread.set_timer(base::TimePoint{});
  CHECK(one.comes([](const Desk& desk) { return desk.timers == 2; }));
}

// Runs a worker in a separate process until it is killed.
int serve(int line) {
  Desk desk(2, {"uds", "tcp"});
  desk.io_thread.start();
  const std::string& address = desk.io_thread.address();
  if (::write(line, address.data(), address.size()) != static_cast<ssize_t>(address.size())) return 1;
  ::pause();
  return 0;
}

TEST_CASE("the end of a peer's process is reported") {
  const std::string transport = GENERATE("uds", "tcp");
  const base::FdPair line = base::make_pipe();
  const pid_t child = distrun::testing::fork_child([&] { return serve(line.second.get()); });
  char address[512];
  const ssize_t size = ::read(line.first.get(), address, sizeof address);
  Desk one(1, {transport});
  one.io_thread.start();
  if (size > 0) one.io_thread.connect(2, "worker2", std::string(address, static_cast<std::size_t>(size)));
  const bool has_met = one.comes([](const Desk& desk) { return !desk.connections.empty(); });
  ::kill(child, SIGKILL);
  CHECK(distrun::testing::wait_for(child).signal == SIGKILL);
  REQUIRE(has_met);
  CHECK(one.connection().peer_pid == child);
  CHECK_FALSE(one.end().empty());
}

TEST_CASE("a closed I/O thread leaves no descriptor, at any stage") {
  const std::ptrdiff_t before = count_descriptors();
  { const Desk never_started(1); }
  CHECK(count_descriptors() == before);
  {
    Desk one(1);
    Desk two(2);
    one.files.push_back(core::make_memfd("a test", 4096));
    one.io_thread.start();
    one.io_thread.connect(2, "worker2", two.io_thread.address());  // the listener never accepts it
    one.io_thread.close();
    one.io_thread.close();
    one.io_thread.connect(2, "worker2", two.io_thread.address());
    one.io_thread.forget(2);
    one.io_thread.set_timer(base::TimePoint{});
  }
  CHECK(count_descriptors() == before);
  {
    Desk one(1, {"uds"});
    Desk two(2, {"uds"});
    one.io_thread.start();
    two.io_thread.start();
    one.io_thread.connect(2, "worker2", two.io_thread.address());
    (void)two.connection();
  }
  CHECK(count_descriptors() == before);
}

}  // namespace
}  // namespace distrun::agents::pipe
