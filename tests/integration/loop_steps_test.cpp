// How long the coordinator's loop is busy at a stretch while much has to be looked at, and whether it waits for anything
// but its next event: whoever shares the loop waits for that. A whole run in this process, with the reports that print
// what is seen.
#include <catch2/catch.hpp>

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include <cstdlib>
#include <iostream>

#include <boost/asio/co_spawn.hpp>

#include <distrun/base/rng.hpp>
#include <distrun/launch/local_node.hpp>
#include <distrun/proc/process_tree.hpp>
#include <distrun/report/console.hpp>
#include <distrun/report/event_stream.hpp>
#include <distrun/runner/run.hpp>

#include "../../apps/distrun/fan_out.hpp"
#include "../support/scratch.hpp"

using namespace distrun;

namespace {

using std::chrono::milliseconds;

base::Nanoseconds cpu_of_this_thread() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

// Who starts a program waits until it has: there is no other way, and it takes a millisecond or less.
long forks = 0;
// Who has killed a helper that is of no use any more reaps it at once, so that nobody takes it for a leak.
long deaths = 0;

// What a thread has waited for: it gave its CPU away though nobody took it. Competing load doesn't count.
struct Waits {
  long switches = 0;  // all, but those of the kernel's for its memory and files
  long named = 0;     // for what may be waited for

  static Waits now() {
    rusage usage{};
    ::getrusage(RUSAGE_THREAD, &usage);
    return {usage.ru_nvcsw - usage.ru_majflt, forks + deaths};
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
    base::Nanoseconds longest{};  // the most CPU time that one took
    long named = 0;               // how many waited for what they may wait for
    std::vector<long> waits{};    // of the others that gave the CPU away: how often each did
  };

  Steps steps() {
    Steps steps;
    bool over = false;
    boost::asio::co_spawn(loop_.context(), run.run(), [&](std::exception_ptr) { over = true; });
    while (!over) {
      // Not run_one(), which waits for the next event: what is measured are the steps alone.
      if (!step(steps)) ::poll(nullptr, 0, 1);
    }
    node_.close();
    proc::remove_run_files(places_);
    return steps;
  }

 private:
  bool step(Steps& steps) {
    const base::Nanoseconds before = cpu_of_this_thread();
    const Waits waited_before = Waits::now();
    if (loop_.context().poll_one() == 0) return false;
    const Waits waited = Waits::now();
    ++steps.all;
    steps.longest = std::max(steps.longest, cpu_of_this_thread() - before);
    if (waited.switches == waited_before.switches) return true;
    if (waited.named != waited_before.named) {
      ++steps.named;
    } else {
      steps.waits.push_back(waited.switches - waited_before.switches);
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

// In the place of libc's, for all that is linked into this program.
extern "C" pid_t waitpid(pid_t pid, int* status, int options) {
  ++deaths;
  return ::wait4(pid, status, options, nullptr);
}

TEST_CASE("no step of the loop takes 100 ms of CPU or waits while 64 ranks of 16 threads run into their bound",
          "[alone]") {
  ::setenv("TMPDIR", "/dev/shm", 1);  // a disk may have to be waited for
  ::pthread_atfork(nullptr, [] { ++forks; }, nullptr);
  WholeRun whole;
  const WholeRun::Steps steps = whole.steps();
  const runner::RunRecord& record = whole.run.record();
  REQUIRE(record.tests.size() == 1);
  REQUIRE(record.tests[0].attempts.size() == 1);
  const runner::AttemptRecord& attempt = record.tests[0].attempts[0];
  CHECK(attempt.verdict == runner::Verdict::Timeout);
  REQUIRE(attempt.looks.size() == 1);
  CHECK(attempt.looks[0].stacks.processes.size() == 64);
  std::cout << steps.all << " steps, the longest took " << steps.longest.count() << " ns of CPU; " << steps.named
            << " waited for a program to start or a helper to die, " << steps.waits.size() << " for something else" << std::endl;
  CHECK(steps.longest < milliseconds(100) * DISTRUN_STEP_SCALE);
  CHECK(steps.named > 0);
  CHECK(steps.waits.empty());
}
