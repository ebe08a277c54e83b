// Measures how long the coordinator's loop is busy without a break during much inspection, and how long it waits for
// anything but its next event: everything on the loop waits meanwhile. Runs a whole run in this process, with the
// reports that print the evidence.
#include <catch2/catch.hpp>

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include <cstdlib>
#include <fstream>
#include <iostream>

#include <boost/asio/co_spawn.hpp>

#include <distrun/common/base/rng.hpp>
#include <distrun/runner/launch/local_node.hpp>
#include <distrun/runner/proc/process_tree.hpp>
#include <distrun/runner/report/json/event_stream.hpp>
#include <distrun/runner/report/text/console.hpp>
#include <distrun/runner/run/run.hpp>

#include "../../apps/distrun/commands/fan_out.hpp"
#include "../support/scratch.hpp"

using namespace distrun;

namespace {

using std::chrono::milliseconds;

base::Nanoseconds cpu_of_this_thread() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

// Counts program starts: posix_spawn blocks until the program has started, for a millisecond or less.
long forks = 0;
// Counts reaped children: a killed helper is reaped at once, so that it does not count as a leak.
long deaths = 0;

// On an otherwise idle machine the kernel's locks take microseconds.
constexpr milliseconds kSleepMax{20};

// Returns how long this thread was runnable without a CPU: the second number in the file.
base::Nanoseconds kept_waiting() {
  std::ifstream numbers("/proc/thread-self/schedstat");
  std::int64_t run_ns = 0, kept_ns = 0;
  numbers >> run_ns >> kept_ns;
  return base::Nanoseconds(kept_ns);
}

// Returns how often this thread has slept, which does not depend on the speed or the load of the machine.
long sleeps() {
  rusage used{};
  ::getrusage(RUSAGE_THREAD, &used);
  return used.ru_nvcsw;
}

// Measurements of this thread at one point in time.
struct Moment {
  std::chrono::steady_clock::time_point wall = std::chrono::steady_clock::now();
  base::Nanoseconds cpu = cpu_of_this_thread();
  base::Nanoseconds kept = kept_waiting();
  long named = forks + deaths;  // actions that may wait
  long sleeps = ::sleeps();

  // Returns the time that the thread slept, without the time that it waited for a CPU.
  base::Nanoseconds slept_since(const Moment& before) const {
    if (sleeps == before.sleeps) return base::Nanoseconds::zero();
    return (wall - before.wall) - (cpu - before.cpu) - (kept - before.kept);
  }
};

// Sixty-four ranks of sixteen threads that hang until their bound.
runner::Settings settings() {
  runner::Settings settings;
  settings.plugins = {DISTRUN_CROWD_PLUGIN};
  settings.world_size = 64;
  settings.timeout = milliseconds(500) * DISTRUN_STEP_SCALE;
  return settings;
}

class WholeRun {
 public:
  WholeRun() : null_(::open("/dev/null", O_WRONLY | O_CLOEXEC)) {
    proc::become_subreaper();
    sinks_.add(events_);
    sinks_.add(console_);
  }

  struct Steps {
    long all = 0;
    base::Nanoseconds longest{};  // maximum CPU time of a step
    long named = 0;               // steps that may wait
    base::Nanoseconds wait{};     // longest sleep of the other steps
  };

  Steps steps() {
    Steps steps;
    bool over = false;
    boost::asio::co_spawn(loop_.context(), run.run(), [&](std::exception_ptr) { over = true; });
    while (!over) {
      // Not run_one(), which waits for the next event: only the steps are to be measured.
      if (!step(steps)) ::poll(nullptr, 0, 1);
    }
    node_.close();
    proc::remove_run_files(places_);
    return steps;
  }

 private:
  bool step(Steps& steps) {
    const Moment before;
    if (loop_.context().poll_one() == 0) return false;
    const Moment after;
    ++steps.all;
    steps.longest = std::max(steps.longest, after.cpu - before.cpu);
    if (after.named != before.named) {
      ++steps.named;
    } else {
      steps.wait = std::max(steps.wait, after.slept_since(before));
    }
    return true;
  }

  launch::LocalNodeOptions options() const {
    launch::LocalNodeOptions options;
    options.rank_program = DISTRUN_BIN_DIR "/distrun-rank";
    options.probe_program = DISTRUN_BIN_DIR "/distrun-probe";
    options.run_id = places_.run_id;
    return options;
  }

  testing::Scratch scratch_;
  proc::RunPlaces places_ = proc::RunPlaces::here(base::random_hex(12));
  io::Loop loop_;
  launch::LocalNode node_{loop_, options()};
  base::Fd null_;
  report::EventStream events_{scratch_.path() + "/events", base::system_clock()};
  report::Console console_{null_.get(), {}, base::system_clock()};
  cli::FanOut sinks_;

 public:
  runner::Run run{loop_, node_, sinks_, places_, settings()};
};

}  // namespace

// Replaces libc's waitpid() for everything linked into this program.
extern "C" pid_t waitpid(pid_t pid, int* status, int options) {
  ++deaths;
  return ::wait4(pid, status, options, nullptr);
}

TEST_CASE("no step of the loop takes 100 ms of CPU or waits while 64 ranks of 16 threads time out", "[alone]") {
  ::setenv("TMPDIR", "/dev/shm", 1);  // a disk might block
  ::pthread_atfork(
      nullptr, [] { ++forks; }, nullptr);
  WholeRun whole;
  const WholeRun::Steps steps = whole.steps();
  const runner::RunRecord& record = whole.run.record();
  REQUIRE(record.tests.size() == 1);
  REQUIRE(record.tests[0].attempts.size() == 1);
  const runner::AttemptRecord& attempt = record.tests[0].attempts[0];
  CHECK(attempt.verdict == runner::Verdict::Timeout);
  REQUIRE(attempt.snapshots.size() == 1);
  CHECK(attempt.snapshots[0].stacks.processes.size() == 64);
  std::cout << steps.all << " steps, the longest took " << steps.longest.count() << " ns of CPU; " << steps.named
            << " started a program or reaped a helper, the others slept for " << steps.wait.count() << " ns at most\n";
  CHECK(steps.longest < milliseconds(100) * DISTRUN_STEP_SCALE);
  CHECK(steps.named > 0);
  // A sanitizer copies much data for each process that is started.
  CHECK(steps.wait < kSleepMax * DISTRUN_STEP_SCALE * DISTRUN_STEP_SCALE);
}
