#include <catch2/catch.hpp>

#include <sys/prctl.h>

#include <distrun/base/rng.hpp>
#include <distrun/proc/guard.hpp>
#include <distrun/proc/process_tree.hpp>

#include "../../support/scratch.hpp"
#include "offspring.hpp"

using namespace distrun;
using namespace distrun::proc;
using namespace distrun::testing;

namespace {

// A guard in a process of its own, its places in a scratch directory, its stderr in a file there.
struct Guarded {
  Guarded() {
    places.run_id = "g" + base::random_hex(11);
    places.temp_dir = scratch.directory("tmp");
    places.start_dir = scratch.directory("start");
  }
  ~Guarded() {
    if (guard != 0) ::kill(guard, SIGKILL);
  }

  template <class Body>
  void start(const Body& body) {
    guard = fork_child([&] {
      const int log = ::open((scratch.path() + "/err").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
      ::dup2(log, STDERR_FILENO);
      return run_guarded(places, body);
    });
  }
  ForkedEnd wait() { return wait_for(std::exchange(guard, 0)); }
  std::string said() const { return read_file(scratch.path() + "/err"); }

  Scratch scratch;
  RunPlaces places;
  pid_t guard = 0;
};

// A line between a test and its coordinator; reading is bounded.
struct Line {
  void say(pid_t number = 1) const { (void)!::write(pipe.second.get(), &number, sizeof number); }
  pid_t hear() const {
    pollfd wanted{pipe.first.get(), POLLIN, 0};
    pid_t number = 0;
    if (::poll(&wanted, 1, 20'000) != 1) return 0;
    return ::read(pipe.first.get(), &number, sizeof number) == sizeof number ? number : 0;
  }
  base::FdPair pipe = base::make_pipe();
};

}  // namespace

TEST_CASE("a coordinator's exit code is the guard's") {
  const int code = GENERATE(0, 1, 2, 4, 130);
  Guarded guarded;
  guarded.start([&](const Coordinator&) { return code; });
  CHECK(guarded.wait() == ForkedEnd{code, 0});
  CHECK(guarded.said().empty());
}

TEST_CASE("when a coordinator is killed, its processes end and its files go") {
  Guarded guarded;
  Offspring offspring;
  const std::string file = guarded.places.temp_dir + "/x-" + guarded.places.run_id;
  const std::string other = guarded.places.start_dir + "/other";
  write_file(other, "kept");
  guarded.start([&](const Coordinator&) {
    write_file(file, "gone");
    offspring.start_daemon();
    offspring.start_hopper();
    ::raise(SIGKILL);
    return 0;
  });
  CHECK(guarded.wait() == ForkedEnd{3, 0});
  CHECK(offspring.all_gone());
  CHECK_FALSE(exists(file));
  CHECK(exists(other));
  CHECK_THAT(guarded.said(), Catch::Contains("the coordinator was killed by signal 9 (SIGKILL)"));
  CHECK_THAT(guarded.said(), Catch::Contains("removed 1 of its files"));
}

TEST_CASE("a coordinator that is interrupted before it listens has been interrupted, no more") {
  const int signal = GENERATE(SIGINT, SIGTERM, SIGHUP);
  Guarded guarded;
  guarded.start([&](const Coordinator&) {
    ::raise(signal);
    return 0;
  });
  CHECK(guarded.wait() == ForkedEnd{130, 0});
  CHECK(guarded.said().empty());
}

TEST_CASE("what a coordinator leaves is ended although it exits, and its code stays") {
  Guarded guarded;
  Offspring offspring;
  guarded.start([&](const Coordinator&) {
    offspring.start_daemon();
    return 1;
  });
  CHECK(guarded.wait() == ForkedEnd{1, 0});
  CHECK(offspring.all_gone());
}

TEST_CASE("a coordinator learns at once that its guard is dead") {
  Guarded guarded;
  const Line ready;
  const Line told;
  guarded.start([&](const Coordinator& coordinator) {
    ready.say(::getpid());
    pollfd wanted{coordinator.guard.get(), POLLIN, 0};
    if (::poll(&wanted, 1, 20'000) == 1) told.say();
    return 0;
  });
  REQUIRE(ready.hear() > 0);
  ::kill(guarded.guard, SIGKILL);
  CHECK(guarded.wait() == ForkedEnd{-1, SIGKILL});
  CHECK(told.hear() == 1);
}

TEST_CASE("a coordinator has its guard's descriptor and is a subreaper with the signals unblocked") {
  Guarded guarded;
  guarded.start([](const Coordinator& coordinator) {
    int subreaper = 0;
    ::prctl(PR_GET_CHILD_SUBREAPER, &subreaper, 0, 0, 0);
    sigset_t mask;
    ::sigprocmask(SIG_SETMASK, nullptr, &mask);
    return coordinator.guard && subreaper == 1 && ::sigismember(&mask, SIGINT) == 0 &&
                   ::sigismember(&mask, SIGTERM) == 0
               ? 0
               : 1;
  });
  CHECK(guarded.wait() == ForkedEnd{0, 0});
}

TEST_CASE("a guard passes signals on") {
  const int signal = GENERATE(SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2);
  Guarded guarded;
  const Line ready;
  guarded.start([&](const Coordinator&) {
    sigset_t wanted;
    sigemptyset(&wanted);
    sigaddset(&wanted, signal);
    ::sigprocmask(SIG_BLOCK, &wanted, nullptr);
    ready.say();
    const timespec limit{20, 0};
    return ::sigtimedwait(&wanted, nullptr, &limit) == signal ? 42 : 1;
  });
  REQUIRE(ready.hear() == 1);
  ::kill(guarded.guard, signal);
  CHECK(guarded.wait() == ForkedEnd{42, 0});
}

TEST_CASE("a coordinator that crashes is an infra error, and the guard says so") {
  Guarded guarded;
  guarded.start([](const Coordinator&) {
    ::signal(SIGABRT, SIG_DFL);
    ::raise(SIGABRT);
    return 0;
  });
  CHECK(guarded.wait() == ForkedEnd{3, 0});
  CHECK_THAT(guarded.said(), Catch::Contains("SIGABRT"));
}
