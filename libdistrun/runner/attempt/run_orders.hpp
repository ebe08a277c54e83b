#pragma once
// The order that each rank of an attempt gets.
#include <string>
#include <vector>

#include <distrun/common/trace/memory.hpp>
#include <distrun/runner/attempt/attempt_store.hpp>
#include <distrun/runner/attempt/name_watch.hpp>
#include <distrun/runner/attempt/private_tmp.hpp>
#include <distrun/runner/attempt/work_dirs.hpp>
#include <distrun/runner/plan/plan.hpp>

namespace distrun::runner {

// Without what differs between ranks. For a test that asks for env:// rendezvous it holds a port that
// was free a moment ago. `store` is where its ranks have theirs, and `trace` where they write down what they do; null:
// they do not.
wire::RunOrder common_order(const PlannedTest& test, const Settings& settings, const std::string& run_id, int attempt,
                            const WorkDirs& dirs, const AttemptStore& store, const trace::Memory* trace = nullptr);
// A rank that is to see one device alone sees the one that has its place in CUDA_VISIBLE_DEVICES as distrun has it.
wire::RunOrder order_for(wire::RunOrder common, const PlannedTest& test, const WorkDirs& dirs, int rank);
// The directories that everybody may leave something in, of those that ranks see as everybody does. Null: they see all.
std::vector<wire::WatchedDirectory> watched_by_ranks(const NameWatch& names, const PrivateTmp* private_tmp);

}  // namespace distrun::runner
