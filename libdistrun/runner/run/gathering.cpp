#include <distrun/runner/run/gathering.hpp>

#include <algorithm>
#include <iterator>

#include <distrun/common/base/error.hpp>
#include <distrun/runner/attempt/bounds.hpp>
#include <distrun/runner/attempt/program.hpp>
#include <distrun/runner/mpi/linked_mpi.hpp>
#include <distrun/runner/mpi/worlds.hpp>
#include <distrun/runner/plan/machine_gpus.hpp>
#include <distrun/runner/plan/selection.hpp>

namespace distrun::runner {

Problem problem_of(const std::string& plugin, const char* phase, std::string text) {
  if (text.starts_with(plugin)) {
    text.erase(0, plugin.size());
    text.erase(0, std::min(text.find_first_not_of(": "), text.size()));
  }
  return {plugin, phase, std::move(text)};
}

io::Task<void> Gathering::gather(PrivateTmps* private_tmps) {
  co_await list_plugins();
  select_tests();
  refuse_to_debug_many();
  if (private_tmps != nullptr) co_await require(*private_tmps);
}

io::Task<void> Gathering::list_plugins() {
  take_gpus(node_.machines(), record_.settings);
  if (!record_.settings.program.empty()) tests_.push_back(plan_program(record_.settings));
  const Filter filter(record_.settings.filters);
  std::vector<std::string> all_ids;
  Rerun rerun(record_.settings);
  for (const std::string& plugin : record_.settings.plugins) {
    if (cancelled_) break;
    std::string failure;
    try {
      const Nanoseconds bound = load_bound(record_.settings);
      wire::PluginTable table = co_await list_tests(node_, plugin, record_.settings, bound);
      for (const wire::TestInfo& test : table.tests) all_ids.push_back(test.id());
      find_mpi(plugin, table);
      const bool uses_backend = table.uses_backend, uses_agent = table.uses_agent;
      rerun.keep_wanted(plugin, table);
      std::vector<PlannedTest> planned = plan(plugin, std::move(table), filter, record_.settings);
      skip_without_devices(planned);
      skip_without_mpi(planned);
      record_.uses_backend = record_.uses_backend || (uses_backend && !planned.empty());
      record_.uses_agent = record_.uses_agent || (uses_agent && !planned.empty());
      std::move(planned.begin(), planned.end(), std::back_inserter(tests_));
    } catch (const Error& error) {
      failure = error.what();
    }
    if (!failure.empty() && !cancelled_) record_.problems.push_back(problem_of(plugin, "list", failure));
  }
  record_.gone = rerun.gone();
  if (tests_.empty()) record_.filter_hint = filter.hint(all_ids);
}

// The plugin knows how many devices there are, but not on which machines its ranks run.
void Gathering::skip_without_devices(std::vector<PlannedTest>& tests) const {
  const std::vector<launch::Resources> machines = node_.machines();
  if (machines.empty()) return;
  for (PlannedTest& test : tests) {
    if (test.skipped()) continue;
    const std::vector<int> ranks = node_.split(test.variant.world_size);
    const std::string why = why_no_devices(test.info, machines, ranks, record_.settings);
    if (!why.empty()) test.info.skip.push_back({kSkipCode, why});
  }
}

// The tests of a plugin that is linked with MPI need not say so.
void Gathering::find_mpi(const std::string& plugin, wire::PluginTable& table) {
  const mpi::LinkedMpi linked = mpi::find_mpi(plugin, mpi::library_path_of(record_.settings));
  if (linked.how == mpi::Linked::Joins) {
    for (wire::TestInfo& test : table.tests) test.needs_mpi = true;
  } else if (linked.how == mpi::Linked::Alone) {
    record_.notices.push_back(
        plugin + " needs " + linked.library +
        ", an MPI that cannot join a world of distrun (Open MPI and MPIs with PMIx can): each rank "
        "is an MPI world of one");
  }
}

void Gathering::skip_without_mpi(std::vector<PlannedTest>& tests) const {
  const std::string why = node_.is_spread() ? "distrun has no world of MPI on several hosts" : mpi::Worlds::why_none();
  if (why.empty()) return;
  for (PlannedTest& test : tests) {
    if (test.info.needs_mpi && !test.skipped()) test.info.skip.push_back({kSkipCode, "needs MPI, but " + why});
  }
}

void Gathering::select_tests() {
  record_.selected = static_cast<int>(tests_.size());
  tests_ = shard_of(std::move(tests_), record_.settings.shard);
  if (record_.settings.shuffle) shuffle(tests_, record_.settings.seed);
  if (arrange_) arrange_(tests_);
}

// There is only one terminal for the debugger.
void Gathering::refuse_to_debug_many() {
  if (record_.settings.debug_rank < 0 || tests_.size() <= 1) return;
  refuse_to_start("--debug needs exactly one test, but " + std::to_string(tests_.size()) +
                  " are selected; select one with --filter");
}

void Gathering::refuse_to_start(std::string why) {
  record_.problems.push_back({"", "start", std::move(why)});
  record_.not_run += static_cast<int>(tests_.size());
  tests_.clear();
}

io::Task<void> Gathering::require(PrivateTmps& private_tmps) {
  if (tests_.empty()) co_return;
  std::string why_not;
  try {
    co_await private_tmps.require();
  } catch (const Error& error) {
    why_not = error.what();
  }
  if (why_not.empty()) co_return;
  refuse_to_start(why_not);
}

}  // namespace distrun::runner
