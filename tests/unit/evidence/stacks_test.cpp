#include <catch2/catch.hpp>

#include <distrun/runner/evidence/stacks/stacks.hpp>

using namespace distrun;
using namespace distrun::evidence;

namespace {

wire::StackTable table_of(std::size_t count) {
  wire::StackTable table;
  table.frames.resize(count);
  return table;
}

wire::ProcessStacks process_of(int index, std::size_t threads, const std::vector<std::uint32_t>& frames) {
  wire::ProcessStacks process;
  process.index = index;
  process.threads.resize(threads);
  for (wire::ThreadStack& thread : process.threads) thread.frames = frames;
  return process;
}

}  // namespace

TEST_CASE("tables are appended, and a process may arrive before the frames it refers to") {
  StacksBuilder builder;
  builder.add(table_of(2));
  builder.add(process_of(1, 1, {0, 3}));
  builder.add(process_of(0, 1, {1}));
  builder.add(table_of(2));
  const Stacks stacks = builder.take();
  CHECK(stacks.table.size() == 4);
  REQUIRE(stacks.processes.size() == 2);
  CHECK(stacks.processes[0].index == 0);
  CHECK(stacks.processes[0].rank == -1);
  CHECK(stacks.processes[1].threads[0].frames == std::vector<std::uint32_t>{0, 3});
  CHECK_FALSE(stacks.cut);
  CHECK(builder.take().processes.empty());
}

TEST_CASE("a process that arrives again replaces the earlier one") {
  StacksBuilder builder;
  builder.add(table_of(1));
  builder.add(process_of(0, kThreadsMax, {}));
  builder.add(process_of(0, 2, {0}));
  builder.add(process_of(1, kThreadsMax - 2, {}));
  const Stacks stacks = builder.take();
  CHECK(stacks.processes[0].threads.size() == 2);
  CHECK(stacks.processes[1].threads.size() == kThreadsMax - 2);
  CHECK_FALSE(stacks.cut);
}

TEST_CASE("frames outside the table are dropped, and the gap keeps its place") {
  StacksBuilder builder;
  builder.add(table_of(2));
  wire::ProcessStacks process = process_of(0, 3, {9, 0, 0xffff'ffff, 1});
  process.threads[0].gap_after = 3;
  process.threads[1].gap_after = 1000;
  process.threads[2].frames = {7};
  process.threads[2].gap_after = 1;
  process.threads[2].motion = static_cast<wire::Motion>(200);
  builder.add(process);
  const Stacks stacks = builder.take();
  const auto& threads = stacks.processes[0].threads;
  CHECK(threads[0].frames == std::vector<std::uint32_t>{0, 1});
  CHECK(threads[0].gap_after == 1);
  CHECK(threads[1].gap_after == 2);
  CHECK(threads[2].frames.empty());
  CHECK(threads[2].gap_after == -1);
  CHECK(threads[2].motion == wire::Motion::Unknown);
}

TEST_CASE("a stack that is too long keeps its ends") {
  StacksBuilder builder;
  builder.add(table_of(kThreadFramesMax + 1000));
  std::vector<std::uint32_t> frames(kThreadFramesMax + 1000);
  for (std::uint32_t i = 0; i < frames.size(); ++i) frames[i] = i;
  builder.add(process_of(0, 1, frames));
  const wire::ThreadStack thread = builder.take().processes[0].threads[0];
  REQUIRE(thread.frames.size() == kThreadFramesMax);
  CHECK(thread.frames.front() == 0);
  CHECK(thread.frames.back() == kThreadFramesMax + 999);
  REQUIRE(thread.gap_after > 0);
  const auto gap = static_cast<std::size_t>(thread.gap_after);
  CHECK(thread.frames[gap] == thread.frames[gap - 1] + 1001);
}

TEST_CASE("tables beyond the limits are cut, and marked as cut") {
  StacksBuilder builder;
  SECTION("frames of the table") {
    builder.add(table_of(kTableMax - 1));
    builder.add(table_of(2));
    builder.add(table_of(5));
    const Stacks stacks = builder.take();
    CHECK(stacks.table.size() == kTableMax);
    CHECK(stacks.cut);
  }
  SECTION("processes") {
    for (int i = 0; i <= static_cast<int>(kProcessesMax); ++i) builder.add(process_of(i, 0, {}));
    const Stacks stacks = builder.take();
    CHECK(stacks.processes.size() == kProcessesMax);
    CHECK(stacks.cut);
  }
  SECTION("threads") {
    builder.add(process_of(0, kThreadsMax - 1, {}));
    builder.add(process_of(1, 3, {}));
    const Stacks stacks = builder.take();
    CHECK(stacks.processes[1].threads.size() == 1);
    CHECK(stacks.cut);
  }
  SECTION("frames of all stacks") {
    builder.add(table_of(1));
    const std::vector<std::uint32_t> frames(kThreadFramesMax, 0);
    builder.add(process_of(0, kFramesMax / kThreadFramesMax + 1, frames));
    const Stacks stacks = builder.take();
    CHECK(stacks.processes[0].threads.back().frames.empty());
    CHECK(stacks.processes[0].threads.back().why_none == "more stacks arrived than are kept");
    CHECK(stacks.cut);
  }
}

TEST_CASE("a wait with too many enders, or of an unknown kind, claims less") {
  wire::ProcessStacks process = process_of(0, 1, {});
  wire::ObservedWait& told = process.threads[0].wait;
  told.object = static_cast<wire::WaitObject>(200);
  told.closed = true;
  told.enders.resize(kEndersMax + 1);
  StacksBuilder builder;
  builder.add(process);
  const wire::ObservedWait wait = builder.take().processes[0].threads[0].wait;
  CHECK(wait.object == wire::WaitObject::Unknown);
  CHECK(wait.enders.size() == kEndersMax);
  CHECK_FALSE(wait.closed);
}
