#pragma once
// Builds the order that each rank of an attempt receives.
#include <string>
#include <vector>

#include <distrun/common/trace/memory.hpp>
#include <distrun/runner/attempt/attempt_store.hpp>
#include <distrun/runner/attempt/name_watch.hpp>
#include <distrun/runner/attempt/private_tmp.hpp>
#include <distrun/runner/attempt/work_dirs.hpp>
#include <distrun/runner/plan/plan.hpp>

namespace distrun::runner {

// Returns the part of the order that all ranks share. For a test with env:// rendezvous it includes a port that was
// free a moment ago. `store` is the ranks' store; `trace` is where they record what they do, null if they do not.
wire::RunOrder common_order(const PlannedTest& test, const Settings& settings, const std::string& run_id, int attempt,
                            const WorkDirs& dirs, const AttemptStore& store, const trace::Memory* trace = nullptr);
// Completes the order for one rank. A rank that is to see a single device gets the one at its index in distrun's
// CUDA_VISIBLE_DEVICES.
wire::RunOrder order_for(wire::RunOrder common, const PlannedTest& test, const WorkDirs& dirs, int rank);
// Returns the watched directories that ranks share with other processes; `private_tmp` is null if they share all.
std::vector<wire::WatchedDirectory> watched_by_ranks(const NameWatch& names, const PrivateTmp* private_tmp);

}  // namespace distrun::runner
