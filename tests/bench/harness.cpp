#include "harness.hpp"

#include <boost/asio/co_spawn.hpp>

#include <exception>

#include <distrun/common/base/rng.hpp>
#include <distrun/runner/proc/process_tree.hpp>

namespace distrun::bench {
namespace {

launch::LocalNodeOptions node_options(const std::string& run_id) {
  launch::LocalNodeOptions options;
  options.rank_program = DISTRUN_BIN_DIR "/distrun-rank";
  options.probe_program = DISTRUN_BIN_DIR "/distrun-probe";
  options.run_id = run_id;
  return options;
}

}  // namespace

std::string distrun_program() { return DISTRUN_BIN_DIR "/distrun"; }
std::string bench_plugin() { return DISTRUN_BENCH_PLUGIN; }

Harness::Harness(runner::EventSink& sink)
    : places_(proc::RunPlaces::here(base::random_hex(12))),
      node_(loop_, node_options(places_.run_id)),
      names_(places_),
      dirs_(places_.run_dir(), false),
      context_{loop_, node_, sink, names_, settings_, dirs_, places_.run_id} {
  proc::become_subreaper();
}

Harness::~Harness() {
  node_.close();
  proc::remove_run_files(places_);
}

runner::PlannedTest Harness::planned(const std::string& test, int world_size, Isolation isolation) {
  runner::PlannedTest planned;
  planned.info.suite = "Bench";
  planned.info.name = test;
  planned.info.world_size = world_size;
  planned.info.timeout_ms = std::chrono::duration_cast<std::chrono::milliseconds>(kBodyBound).count();
  planned.id = planned.info.id();
  planned.plugin = bench_plugin();
  planned.variant.world_size = world_size;
  planned.variant.isolation = isolation;
  return planned;
}

io::Task<void> Harness::run(runner::PlannedTest test, runner::AttemptRecord& result) {
  co_await node_.prepare(test.plugin, test.variant.isolation, std::chrono::seconds(30));
  runner::Attempt attempt(context_, test, 1, runner::AttemptKind::First);
  result = co_await attempt.run();
}

runner::AttemptRecord Harness::attempt(const std::string& test, int world_size, Isolation isolation) {
  runner::AttemptRecord result;
  std::exception_ptr failure;
  boost::asio::co_spawn(loop_.context(), run(planned(test, world_size, isolation), result),
                        [&](std::exception_ptr error) {
                          failure = error;
                          loop_.stop();
                        });
  loop_.run();
  if (failure) std::rethrow_exception(failure);
  return result;
}

}  // namespace distrun::bench
