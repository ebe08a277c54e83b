// The records of the runtime, and their ranks.
#include <distrun/runtime/core/tracing.hpp>

#include <catch2/catch.hpp>

#include <array>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include <distrun/common/base/thread.hpp>
#include <distrun/common/trace/reader.hpp>
#include <distrun/runtime/core/rank_state.hpp>
#include <distrun/runtime/core/thread_state.hpp>

namespace distrun::core {
namespace {

// Ranks that are threads, as their runner attaches them. Tracing of a state is never undone, so states live on.
RankState& traced_state(int rank, const trace::Memory& memory) {
  static auto* const states = new std::array<RankState, 2>;
  RankState& state = states->at(static_cast<std::size_t>(rank));
  ::setenv(trace::kVariable, memory.path().c_str(), 1);
  trace_rank(state, rank);
  ::unsetenv(trace::kVariable);
  return state;
}

class WorkingFor {
 public:
  explicit WorkingFor(RankState* state) : before_(std::exchange(thread_state().rank, state)) {}
  ~WorkingFor() { thread_state().rank = before_; }
  WorkingFor(const WorkingFor&) = delete;
  WorkingFor& operator=(const WorkingFor&) = delete;

 private:
  RankState* before_;
};

void write(const std::string& name) {
  const TraceSlice slice(tracer(), [&] {
    trace::SliceInfo info;
    info.name = name;
    return info;
  });
}

std::string names_in(const trace::Memory& memory, int rank) {
  std::string names;
  for (const trace::Slice& slice : trace::read(memory, rank).slices) names += slice.name + " ";
  return names;
}

TEST_CASE("a slice is recorded for the rank that its thread works for, test after test") {
  for (int test = 0; test < 2; ++test) {
    const trace::Memory memory(2, trace::kRecordsMin);
    RankState& zero = traced_state(0, memory);
    RankState& one = traced_state(1, memory);
    {
      const WorkingFor rank(&one);
      write("one");
    }
    base::Thread("other", [&] {
      const WorkingFor rank(&zero);
      write("zero");
    }).join();
    CHECK(names_in(memory, 0) == "zero ");
    CHECK(names_in(memory, 1) == "one ");
  }
}

TEST_CASE("a thread that works for no rank is traced with the first rank that was traced") {
  const trace::Memory memory(2, trace::kRecordsMin);
  traced_state(0, memory);
  traced_state(1, memory);
  const WorkingFor nobody(nullptr);
  write("nobody's");
  CHECK(names_in(memory, 0) == "nobody's ");
  CHECK(names_in(memory, 1).empty());
}

TEST_CASE("a rank without trace memory in its environment is not traced") {
  ::unsetenv(trace::kVariable);
  RankState state;
  const auto* const before = detail::traced_ranks.load();
  trace_rank(state, 0);
  ::setenv(trace::kVariable, "", 1);
  trace_rank(state, 0);
  ::unsetenv(trace::kVariable);
  CHECK(detail::traced_ranks.load() == before);
}

}  // namespace
}  // namespace distrun::core
