#include <catch2/catch.hpp>

#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <latch>

#include <distrun/common/base/thread.hpp>

using distrun::base::Thread;

TEST_CASE("a thread is joined by its destructor") {
  std::atomic<bool> ran = false;
  {
    const Thread thread("worker", [&] { ran = true; });
  }
  CHECK(ran);
}

TEST_CASE("a thread has its name, cut to the kernel's limit") {
  std::latch named(1);
  std::latch read(1);
  char name[32] = "";
  Thread thread("a-name-of-more-than-15-characters", [&] {
    named.wait();
    ::pthread_getname_np(::pthread_self(), name, sizeof name);
    read.count_down();
  });
  named.count_down();  // the constructor has returned: the name is set
  read.wait();
  thread.join();
  CHECK(std::string(name) == "a-name-of-more-");
  CHECK_FALSE(thread.joinable());
}

TEST_CASE("a thread starts with all signals blocked and leaves its creator's mask alone") {
  sigset_t before;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &before);
  bool all_blocked = false;
  Thread thread("worker", [&] {
    sigset_t mask;
    ::pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    all_blocked = ::sigismember(&mask, SIGINT) == 1 && ::sigismember(&mask, SIGTERM) == 1 &&
                  ::sigismember(&mask, SIGUSR1) == 1 && ::sigismember(&mask, SIGCHLD) == 1;
  });
  thread.join();
  CHECK(all_blocked);
  sigset_t after;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &after);
  CHECK(::sigismember(&after, SIGINT) == ::sigismember(&before, SIGINT));
}

TEST_CASE("a thread takes the signals of its faults unless they are to be blocked, too") {
  for (const auto faults : {distrun::base::Faults::Handled, distrun::base::Faults::Blocked}) {
    sigset_t mask;
    Thread(
        "worker", [&] { ::pthread_sigmask(SIG_SETMASK, nullptr, &mask); }, faults)
        .join();
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) {
      CHECK(::sigismember(&mask, fault) == (faults == distrun::base::Faults::Blocked ? 1 : 0));
    }
    CHECK(::sigismember(&mask, distrun::base::stack_signal()) == 0);
  }
}

TEST_CASE("a moved thread is joined where it went") {
  std::atomic<bool> ran = false;
  Thread first("worker", [&] { ran = true; });
  const Thread second = std::move(first);
  CHECK_FALSE(first.joinable());
  CHECK(second.joinable());
}
