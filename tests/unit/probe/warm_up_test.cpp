#include "warm_up.hpp"

#include <catch2/catch.hpp>

#include "in_state.hpp"

using namespace distrun;
using namespace distrun::probe;

namespace {

wire::ProcessStacks process_of(pid_t pid, char state) {
  wire::ProcessStacks process;
  process.pid = pid;
  wire::ThreadStack& thread = process.threads.emplace_back();
  thread.task.tid = pid;
  thread.task.state = static_cast<std::uint8_t>(state);
  return process;
}

}  // namespace

TEST_CASE("the code of a sleeping process is read ahead") {
  const testing::InState subject("sleeping");
  REQUIRE(subject.reaches('S'));
  FrameTable table;
  WarmUp warm_up(table);
  CHECK(warm_up.is_done_within(base::Milliseconds::zero()));  // nothing has begun
  warm_up.begin(process_of(subject.pid(), 'S'));
  CHECK(warm_up.is_done_within(std::chrono::seconds(30)));
  const WarmUp::Code code = warm_up.finish();
  REQUIRE(code.space != nullptr);
  CHECK(code.signature == Mappings::of(subject.pid()).code_signature());
}

TEST_CASE("a process that has ended has no code to read ahead") {
  FrameTable table;
  WarmUp warm_up(table);
  warm_up.begin(process_of(0x3ffffff, 'S'));
  CHECK(warm_up.finish().space == nullptr);
  CHECK(table.take_new().frames.empty());
}

TEST_CASE("code is not read ahead where a thread sleeps uninterruptibly, or cannot be seen") {
  const testing::InState subject("sleeping");
  FrameTable table;
  WarmUp warm_up(table);
  for (const char state : {'D', '?'}) warm_up.begin(process_of(subject.pid(), state));
  wire::ProcessStacks hidden = process_of(subject.pid(), 'S');
  hidden.why_none = "it is a zombie";
  warm_up.begin(hidden);
  CHECK(warm_up.finish().space == nullptr);
}
