#include <catch2/catch.hpp>

#include <sys/prctl.h>
#include <sys/ptrace.h>

#include <distrun/common/base/rng.hpp>
#include <distrun/common/base/text.hpp>
#include <distrun/runner/proc/guard.hpp>
#include <distrun/runner/proc/pidfd.hpp>
#include <distrun/runner/proc/process_tree.hpp>

#include "../../support/scratch.hpp"
#include "offspring.hpp"
#include "support/process.hpp"
#include "support/skip.hpp"

using namespace distrun;
using namespace distrun::proc;
using namespace distrun::testing;

namespace {

// A guard in a separate process, with its directories and its stderr in a scratch directory.
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
  void start(const Body& body, const GuardBounds& bounds = {}) {
    guard = fork_child([&] {
      const int log = ::open((scratch.path() + "/err").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
      ::dup2(log, STDERR_FILENO);
      return run_guarded(places, body, bounds);
    });
  }
  ForkedEnd wait() { return wait_for(std::exchange(guard, 0)); }
  std::string said() const { return read_file(scratch.path() + "/err"); }

  Scratch scratch;
  RunPlaces places;
  pid_t guard = 0;
};

// A pipe between a test and its coordinator, with a limit for reads.
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

TEST_CASE("a coordinator's exit code becomes the guard's") {
  const int code = GENERATE(0, 1, 2, 4, 130);
  Guarded guarded;
  guarded.start([&](const Coordinator&) { return code; });
  CHECK(guarded.wait() == ForkedEnd{code, 0});
  CHECK(guarded.said().empty());
}

TEST_CASE("when a coordinator is killed, its processes are ended and its files are removed") {
  Guarded guarded;
  Offspring offspring;
  const std::string file = guarded.places.temp_dir + "/x-" + guarded.places.run_id;
  const std::string other = guarded.places.start_dir + "/other";
  write_file(other, "kept");
  guarded.start([&](const Coordinator& coordinator) {
    coordinator.note->write("Ring.last");
    coordinator.note->write("Ring.pass, Ring.fail");
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
  CHECK_THAT(guarded.said(), Catch::Contains("the coordinator was killed by signal 9 (SIGKILL) while Ring.pass, "
                                             "Ring.fail ran; "));
  CHECK_THAT(guarded.said(), Catch::Contains("removed 1 of its files"));
}

TEST_CASE("a coordinator that was asked to exit has 15 s, and 5 s once it was asked again") {
  CHECK(GuardBounds{}.end == std::chrono::seconds(15));
  CHECK(GuardBounds{}.hurry == std::chrono::seconds(5));
}

TEST_CASE("a coordinator's note is cut at its end, and empty before the first") {
  WorkNote note;
  CHECK(note.read().empty());
  note.write(std::string(WorkNote::kTextMax + 1, 'x'));
  CHECK(note.read() == std::string(WorkNote::kTextMax, 'x'));
  note.write("");
  CHECK(note.read().empty());
}

TEST_CASE("signals that request nothing end neither guard nor coordinator") {
  const int signal = GENERATE(SIGUSR1, SIGUSR2, SIGALRM, SIGPROF, SIGVTALRM, SIGIO, SIGPWR, SIGPIPE, 64);
  INFO("signal " << signal);
  Guarded guarded;
  Line begun;
  Line go_on;
  guarded.start([&](const Coordinator&) {
    begun.say(::getpid());
    return go_on.hear() == 1 ? 7 : 8;
  });
  const pid_t coordinator = begun.hear();
  REQUIRE(coordinator > 0);
  ::kill(coordinator, signal);
  ::kill(guarded.guard, signal);
  go_on.say();
  CHECK(guarded.wait() == ForkedEnd{7, 0});
  CHECK(guarded.said().empty());
}

TEST_CASE("a coordinator that is interrupted before it listens is only interrupted") {
  const int signal = GENERATE(SIGINT, SIGTERM, SIGHUP);
  Guarded guarded;
  guarded.start([&](const Coordinator&) {
    ::raise(signal);
    return 0;
  });
  CHECK(guarded.wait() == ForkedEnd{130, 0});
  CHECK(guarded.said().empty());
}

TEST_CASE("leftovers of a coordinator that exits are ended, and its code stays") {
  Guarded guarded;
  Offspring offspring;
  guarded.start([&](const Coordinator&) {
    offspring.start_daemon();
    return 1;
  });
  CHECK(guarded.wait() == ForkedEnd{1, 0});
  CHECK(offspring.all_gone());
}

TEST_CASE("a coordinator is notified at once when its guard dies") {
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

// ---- a coordinator that does not react

namespace {

using std::chrono::milliseconds;

// Reports its pid, then only holds its run's files and processes.
int stay_deaf(const Line& ready) {
  sigset_t all;
  sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  ready.say(::getpid());
  ::poll(nullptr, 0, 60'000);
  return 1;
}

bool ends_within(pid_t child, milliseconds limit) {
  const base::Fd watched = open_pidfd(child);
  pollfd ended{watched.get(), POLLIN, 0};
  return ::poll(&ended, 1, static_cast<int>(limit.count())) == 1;
}

}  // namespace

TEST_CASE("a coordinator that does not exit when asked is killed at the guard's bound") {
  const int signal = GENERATE(SIGTERM, SIGINT, SIGHUP);
  Guarded guarded;
  Offspring offspring;
  const Line ready;
  guarded.start(
      [&](const Coordinator&) {
        offspring.start_daemon();
        return stay_deaf(ready);
      },
      {milliseconds(1500), milliseconds(100)});
  REQUIRE(ready.hear() > 0);
  CHECK_FALSE(ends_within(guarded.guard, milliseconds(1600)));  // there is no bound without a request
  ::kill(guarded.guard, signal);
  CHECK_FALSE(ends_within(guarded.guard, milliseconds(200)));
  CHECK(guarded.wait() == ForkedEnd{130, 0});
  CHECK(offspring.all_gone());
  CHECK_THAT(guarded.said(), Catch::Contains("the coordinator did not end within") &&
                                 Catch::Contains("of " + base::signal_name(signal)) &&
                                 Catch::Contains("and was killed; ended 1 of its processes"));
}

TEST_CASE("a second request shortens the guard's bound") {
  Guarded guarded;
  const Line ready;
  guarded.start([&](const Coordinator&) { return stay_deaf(ready); }, {milliseconds(60'000), milliseconds(100)});
  REQUIRE(ready.hear() > 0);
  ::kill(guarded.guard, SIGINT);
  ::kill(guarded.guard, SIGINT);  // the same request
  CHECK_FALSE(ends_within(guarded.guard, milliseconds(500)));
  ::kill(guarded.guard, SIGINT);
  CHECK(guarded.wait() == ForkedEnd{130, 0});
}

TEST_CASE("a coordinator that is stopped is still notified that it is asked to exit") {
  Guarded guarded;
  const Line ready;
  guarded.start([&](const Coordinator&) {
    sigset_t wanted;
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGTERM);
    ::sigprocmask(SIG_BLOCK, &wanted, nullptr);
    ready.say(::getpid());
    const timespec limit{20, 0};
    int heard = 0;
    do {
      heard = ::sigtimedwait(&wanted, nullptr, &limit);
    } while (heard < 0 && errno == EINTR);  // as after a stop
    return heard == SIGTERM ? 42 : 1;
  });
  const pid_t coordinator = ready.hear();
  REQUIRE(coordinator > 0);
  ::kill(coordinator, SIGSTOP);
  CHECK_FALSE(ends_within(guarded.guard, milliseconds(300)));
  ::kill(guarded.guard, SIGTERM);
  CHECK(guarded.wait() == ForkedEnd{42, 0});
}

namespace {

// Exits with 42 once it is continued.
int wait_until_continued(const Line& ready) {
  sigset_t wanted;
  sigemptyset(&wanted);
  sigaddset(&wanted, SIGCONT);
  ::sigprocmask(SIG_BLOCK, &wanted, nullptr);
  ready.say(::getpid());
  const timespec limit{20, 0};
  int heard = 0;
  do {
    heard = ::sigtimedwait(&wanted, nullptr, &limit);
  } while (heard < 0 && errno == EINTR);
  return heard == SIGCONT ? 42 : 1;
}

GuardBounds with_stop_bound(milliseconds bound) {
  GuardBounds bounds;
  bounds.stop = bound;
  return bounds;
}

}  // namespace

TEST_CASE("a coordinator that is stopped from outside is continued after a moment, and the guard says so") {
  Guarded guarded;
  const Line ready;
  guarded.start([&](const Coordinator&) { return wait_until_continued(ready); }, with_stop_bound(milliseconds(500)));
  const pid_t coordinator = ready.hear();
  REQUIRE(coordinator > 0);
  ::kill(coordinator, SIGSTOP);
  CHECK_FALSE(ends_within(guarded.guard, milliseconds(200)));
  CHECK(guarded.wait() == ForkedEnd{42, 0});
  CHECK_THAT(guarded.said(), Catch::Contains("the coordinator (process " + std::to_string(coordinator) +
                                             ") was stopped from outside by SIGSTOP while the guard ran"));
}

TEST_CASE("a coordinator that is stopped together with its guard stays stopped until it is continued") {
  Guarded guarded;
  const Line ready;
  guarded.start([&](const Coordinator&) { return wait_until_continued(ready); }, with_stop_bound(milliseconds(500)));
  const pid_t coordinator = ready.hear();
  REQUIRE(coordinator > 0);
  ::kill(coordinator, SIGSTOP);
  REQUIRE(eventually(milliseconds(20'000), [&] { return is_stopped(coordinator); }));
  ::kill(guarded.guard, SIGSTOP);
  CHECK_FALSE(ends_within(guarded.guard, milliseconds(1500)));
  ::kill(guarded.guard, SIGCONT);  // first, and the coordinator a moment later
  ::kill(coordinator, SIGCONT);
  CHECK(guarded.wait() == ForkedEnd{42, 0});
  CHECK(guarded.said().empty());
}

TEST_CASE("a coordinator's exit is noticed by its guard, though the guard is stopped") {
  Guarded guarded;
  guarded.start([&](const Coordinator&) {
    const pid_t guard = ::getppid();
    ::kill(guard, SIGSTOP);
    return eventually(milliseconds(20'000), [&] { return is_stopped(guard); }) ? 42 : 1;
  });
  const pid_t guard = guarded.guard;
  CHECK(guarded.wait() == ForkedEnd{42, 0});
  CHECK_THAT(guarded.said(), Catch::Contains("the guard (process " + std::to_string(guard) +
                                             ") was stopped from outside while the coordinator ran"));
}

TEST_CASE(
    "a coordinator held by a debugger is killed at the guard's bound, and its guard does not wait for the debugger") {
  Guarded guarded;
  const Line ready;
  guarded.start([&](const Coordinator&) { return stay_deaf(ready); }, {milliseconds(300), milliseconds(100)});
  const pid_t coordinator = ready.hear();
  REQUIRE(coordinator > 0);
  skip_case_if(::ptrace(PTRACE_SEIZE, coordinator, nullptr, nullptr) != 0, "ptrace is not allowed here");
  REQUIRE(::ptrace(PTRACE_INTERRUPT, coordinator, nullptr, nullptr) == 0);
  REQUIRE(::waitpid(coordinator, nullptr, __WALL) == coordinator);
  ::kill(guarded.guard, SIGTERM);
  CHECK(guarded.wait() == ForkedEnd{130, 0});
  CHECK_THAT(guarded.said(), Catch::Contains("(it is held by a debugger) and was killed"));
  ::waitpid(coordinator, nullptr, __WALL);
}

TEST_CASE("earlier children of a guard do not belong to its run") {
  const ForkedEnd end = in_child([] {
    const pid_t own = fork_child([] {
      ::poll(nullptr, 0, 60'000);
      return 0;
    });
    const Scratch scratch;
    const int log = ::open((scratch.path() + "/err").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    ::dup2(log, STDERR_FILENO);
    const int code = run_guarded({"g0", scratch.path(), scratch.path()}, [](const Coordinator&) { return 4; });
    const bool spared = ::kill(own, 0) == 0 && !is_zombie(own) && read_file(scratch.path() + "/err").empty();
    ::kill(own, SIGKILL);
    return spared ? code : 1;
  });
  CHECK(end == ForkedEnd{4, 0});
}
