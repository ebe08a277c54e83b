#include <distrun/runner/attempt/attempt_trace.hpp>

#include <algorithm>

#include <distrun/common/base/error.hpp>

namespace distrun::runner {
namespace {

// Limit for all ranks together: the trace writer briefly holds them all in memory.
constexpr std::uint64_t kRecordsOfAttempt = std::uint64_t{1} << 21;

}  // namespace

std::uint64_t trace_records(const RunContext& run, const PlannedTest& test) {
  if (run.traces == nullptr || test.is_host() || test.is_program()) return 0;
  const std::uint64_t most = kRecordsOfAttempt / static_cast<std::uint64_t>(test.variant.world_size);
  return std::clamp(run.settings.trace_records, std::uint64_t{1}, std::max(most, std::uint64_t{1}));
}

std::unique_ptr<trace::Memory> make_trace_memory(const RunContext& run, const PlannedTest& test) {
  const std::uint64_t records = trace_records(run, test);
  if (records == 0) return nullptr;
  try {
    return std::make_unique<trace::Memory>(test.variant.world_size, records);
  } catch (const Error& error) {
    run.traces->miss(error.what());
    return nullptr;
  }
}

std::vector<trace::RankTrace> read_traces(const trace::Memory* memory) {
  std::vector<trace::RankTrace> traces;
  if (memory == nullptr) return traces;
  for (int rank = 0; rank < memory->world_size(); ++rank) traces.push_back({trace::read(*memory, rank), "", false, {}});
  return traces;
}

void add_trace(wire::RunOrder& order, const trace::Memory* memory) {
  if (memory != nullptr) order.env.push_back({trace::kVariable, memory->path()});
}

}  // namespace distrun::runner
