#include <catch2/catch.hpp>

#include <distrun/common/base/rng.hpp>
#include <distrun/common/base/text.hpp>
#include <distrun/runner/evidence/stacks/tree_text.hpp>

#include "samples.hpp"

using namespace distrun;
using namespace distrun::evidence;

namespace {

std::vector<Line> lines_of(const Stacks& stacks) { return tree_text(stacks, merge(stacks)); }

// Ranks with different innermost frames and the same callers, except for the last.
Stacks scattered(int ranks) {
  Stacks stacks;
  for (int rank = 0; rank < ranks; ++rank) {
    samples::Frames frames = {samples::user("ring::f" + std::to_string(rank) + "()", "ring.cpp", 1)};
    for (int line = rank + 1; line > 1; --line) {
      frames.push_back(samples::user("ring::g()", "ring.cpp", static_cast<std::uint32_t>(line)));
    }
    samples::add_process(stacks, rank, 100 + rank, {{100 + rank, "distrun-rank", frames}});
  }
  return stacks;
}

}  // namespace

TEST_CASE("lines of a tree are limited, and the rest is counted") {
  const Stacks stacks = scattered(300);
  const StackTree tree = merge(stacks);
  for (const std::size_t limit : {std::size_t{1}, std::size_t{2}, std::size_t{20}, std::size_t{200}}) {
    TreeLimits limits;
    limits.lines = limit;
    const std::vector<Line> lines = tree_text(stacks, tree, limits);
    CHECK(lines.size() <= limit);
    CHECK_THAT(plain(lines.back()), Catch::Contains("not shown: ") && Catch::Contains(" groups more, of "));
  }
}

TEST_CASE("nested brackets have a limit") {
  const std::string text = plain(lines_of(scattered(40)));
  CHECK(text.find("│ │ │ │ ") != std::string::npos);
  CHECK(text.find("│ │ │ │ │ ") == std::string::npos);
}

TEST_CASE("stacks that each continue where another ends are merged without recursion") {
  Stacks stacks;
  stacks.table = {samples::user("ring::f()", "ring.cpp", 1), samples::user("ring::g()", "ring.cpp", 2)};
  Process process;
  process.rank = 0;
  for (std::uint32_t depth = 1; depth <= 1500; ++depth) {
    wire::ThreadStack thread;
    thread.task.tid = static_cast<std::int32_t>(depth);
    for (std::uint32_t i = 0; i < depth; ++i) thread.frames.push_back((depth - i) % 5 == 0 ? 1 : 0);
    process.threads.push_back(thread);
  }
  stacks.processes = {process};
  CHECK(merge(stacks).groups.size() == 1500);
  CHECK(lines_of(stacks).size() <= 200);
}

TEST_CASE("a stack of a hundred thousand different frames takes a few lines") {
  StacksBuilder builder;
  wire::StackTable table;
  wire::ProcessStacks process;
  process.threads.emplace_back();
  for (std::uint32_t i = 0; i < 100'000; ++i) {
    table.frames.push_back(samples::user("ring::f" + std::to_string(i) + "()", "ring.cpp", i));
    process.threads[0].frames.push_back(i);
  }
  builder.add(std::move(table));
  builder.add(std::move(process));
  const std::vector<Line> lines = lines_of(builder.take());
  CHECK(lines.size() <= 20);
  CHECK_THAT(plain(lines), Catch::Contains("ring::f0 ") && Catch::Contains("ring::f99999 "));
}

TEST_CASE("lines are printable and short for any bytes in the input") {
  base::Rng rng(17);
  const auto noise = [&](std::size_t size) {
    std::string text;
    for (std::size_t i = rng.below(size + 1); i > 0; --i) text += static_cast<char>(rng.below(256));
    return text;
  };
  for (int round = 0; round < 200; ++round) {
    Stacks stacks;
    samples::Frames frames;
    for (int i = 0; i < 5; ++i) frames.push_back(samples::user(noise(300), noise(300), 7));
    frames[1].module = noise(200);
    samples::ThreadSample thread(10, noise(40), frames);
    thread.thread.waits_for = noise(500);
    thread.thread.task.syscall = noise(100);
    thread.thread.task.state = static_cast<std::uint8_t>(rng.below(256));
    samples::ThreadSample none(12, noise(20), {});
    none.thread.why_none = noise(600);
    none.thread.task.kernel_stack = noise(600);
    samples::add_process(stacks, 0, 10, {thread, none});
    stacks.processes[0].sources = {{noise(30), false, noise(300)}};
    for (const Line& line : lines_of(stacks)) {
      const std::string text = plain(line);
      REQUIRE(base::printable(text) == text);
      REQUIRE(text.find('\n') == std::string::npos);
      REQUIRE(text.size() < 1000);
    }
  }
}
