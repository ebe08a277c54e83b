// How long the coordinator's loop is busy at a stretch while much has to be looked at: whoever shares the loop waits
// for that. A whole run in this process, with the reports that print what is seen.
#include <catch2/catch.hpp>

#include <fcntl.h>
#include <time.h>

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

  // The most CPU time that one step of the loop took.
  base::Nanoseconds longest_step() {
    base::Nanoseconds longest{};
    bool over = false;
    boost::asio::co_spawn(loop_.context(), run.run(), [&](std::exception_ptr) { over = true; });
    while (!over) {
      const base::Nanoseconds before = cpu_of_this_thread();
      if (loop_.context().run_one() == 0) break;
      longest = std::max(longest, cpu_of_this_thread() - before);
    }
    node_.close();
    proc::remove_run_files(places_);
    return longest;
  }

 private:
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

TEST_CASE("no step of the loop takes 100 ms of CPU while 64 ranks of 16 threads run into their bound",
          "[alone]") {
  WholeRun whole;
  const base::Nanoseconds longest = whole.longest_step();
  const runner::RunRecord& record = whole.run.record();
  REQUIRE(record.tests.size() == 1);
  REQUIRE(record.tests[0].attempts.size() == 1);
  const runner::AttemptRecord& attempt = record.tests[0].attempts[0];
  CHECK(attempt.verdict == runner::Verdict::Timeout);
  REQUIRE(attempt.looks.size() == 1);
  CHECK(attempt.looks[0].stacks.processes.size() == 64);
  INFO("the longest step took " << longest.count() << " ns of CPU");
  CHECK(longest < milliseconds(100) * DISTRUN_STEP_SCALE);
}
