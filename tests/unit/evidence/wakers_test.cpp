#include <catch2/catch.hpp>

#include <sys/time.h>

#include <csignal>

#include <distrun/runner/evidence/waits/observed_wait.hpp>
#include <distrun/runner/evidence/waits/wakers.hpp>

#include "cast.hpp"
#include "support/end_with.hpp"

using namespace distrun;
using namespace distrun::evidence;
using base::Fd;
using testing::Actor;
using testing::gets_to;
using testing::with_fd;
using wire::WaitObject;

namespace {

// Forks a child of this process that ends with it.
void start_child() {
  const pid_t parent = ::getpid();
  if (::fork() != 0) return;
  testing::end_with(parent);
  testing::rest();
}

// A child that catches the signal, and has a child itself if wanted.
Wakers of_child_that_catches(int signal, bool has_child = false) {
  const Actor child({}, [&] {
    if (signal != 0) ::signal(signal, [](int) {});
    if (has_child) start_child();
    testing::rest();
  });
  REQUIRE(gets_to(child.pid(), "rt_sigsuspend"));
  const Wakers wakers = wakers_of(child.pid());
  return wakers;
}

// A child that waits for a byte from `line`.
wire::ObservedWait seen_in_read(const Fd& line) {
  const int fd = line.get();
  const Actor reader({fd}, [&] { testing::read_byte(fd); });
  REQUIRE(gets_to(reader.pid(), with_fd("read", fd)));
  const Connections all = find_connections({reader.pid(), ::getpid()});
  const Blocked blocked = testing::look_at(reader.pid(), all);
  return observed_wait(all, Names(all, {blocked}), blocked);
}

}  // namespace

TEST_CASE("a timer may end any wait of its process") {
  const Wakers wakers = of_child_that_catches(SIGALRM);
  CHECK(wakers.timers);
  CHECK((may_end(wakers, WaitObject::Mutex) && may_end(wakers, WaitObject::Pipe)));
}

TEST_CASE("a handler of a signal may end a call or post a semaphore, but releases no lock") {
  const Wakers wakers = of_child_that_catches(SIGUSR1);
  CHECK((wakers.handlers && !wakers.timers && !wakers.stops));
  CHECK((may_end(wakers, WaitObject::Semaphore) && may_end(wakers, WaitObject::Pipe)));
  CHECK_FALSE(may_end(wakers, WaitObject::Mutex));
  CHECK_FALSE(may_end(wakers, WaitObject::ThreadEnd));
}

TEST_CASE("a process that is asked to end may be waiting for just that") {
  const Wakers wakers = of_child_that_catches(SIGTERM);
  CHECK((wakers.stops && !wakers.handlers));
  CHECK(may_end(wakers, WaitObject::Semaphore));
  CHECK_FALSE(may_end(wakers, WaitObject::Pipe));
}

TEST_CASE("the signal of a child's end means nothing without a child") {
  CHECK_FALSE(of_child_that_catches(SIGCHLD).handlers);
  CHECK(of_child_that_catches(SIGCHLD, true).handlers);
}

TEST_CASE("a process that catches nothing is woken by no signal, and one that cannot be read by any") {
  const Wakers none = of_child_that_catches(0);
  CHECK_FALSE((none.timers || none.handlers || none.stops));
  const Wakers gone = wakers_of(0x3fff'ffff);
  CHECK((gone.timers && gone.handlers && gone.stops));
}

TEST_CASE("the time limit of a socket ends a wait that shows none") {
  const base::FdPair line = base::make_socket_pair(SOCK_STREAM);
  const wire::ObservedWait without = seen_in_read(line.first);
  CHECK(without.limit.empty());
  const timeval limit{30, 0};
  REQUIRE(::setsockopt(line.first.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0);
  const wire::ObservedWait with = seen_in_read(line.first);
  CHECK(with.limit == "30 s");
  CHECK_FALSE(with.closed);
}
