#include <distrun/runner/attempt/attempt_trace.hpp>

#include <algorithm>

#include <distrun/common/base/error.hpp>

namespace distrun::runner {
namespace {

// Limit for all ranks together: the trace writer briefly holds them all in memory.
constexpr std::uint64_t kRecordsOfAttempt = std::uint64_t{1} << 21;

std::uint64_t records_of_rank(std::uint64_t wanted, int world_size) {
  return std::min(wanted, kRecordsOfAttempt / static_cast<std::uint64_t>(world_size));
}

}  // namespace

std::unique_ptr<trace::Memory> make_trace_memory(const RunContext& run, const PlannedTest& test) {
  if (run.traces == nullptr || test.is_host() || test.is_program()) return nullptr;
  try {
    const int world_size = test.variant.world_size;
    return std::make_unique<trace::Memory>(world_size, records_of_rank(run.settings.trace_records, world_size));
  } catch (const Error& error) {
    run.traces->miss(error.what());
    return nullptr;
  }
}

void add_trace(wire::RunOrder& order, const trace::Memory* memory) {
  if (memory != nullptr) order.env.push_back({trace::kVariable, memory->path()});
}

}  // namespace distrun::runner
