#include <catch2/catch.hpp>

#include <algorithm>

#include <distrun/runner/evidence/stacks/tree_text.hpp>

#include "samples.hpp"

using namespace distrun;
using namespace distrun::evidence;

namespace {

void add_child(Stacks& stacks, int of_rank, int pid, const std::string& command) {
  samples::add_process(stacks, -1, pid, {samples::ThreadSample(pid, "sleep", {samples::library("nanosleep")})});
  stacks.processes.back().of_rank = of_rank;
  stacks.processes.back().command = command;
}

Stacks rank_with_child() {
  Stacks stacks;
  samples::add_process(stacks, 2, 4000, {samples::ThreadSample(4000, "rank", {samples::library("wait4")})});
  add_child(stacks, 2, 4711, "sleep 100");
  return stacks;
}

bool has_line(const Stacks& stacks, const std::string& text) {
  const std::vector<Line> lines = tree_text(stacks, merge(stacks));
  return std::any_of(lines.begin(), lines.end(),
                     [&](const Line& line) { return plain(line).find(text) != std::string::npos; });
}

}  // namespace

TEST_CASE("a process that a rank has started is named by the rank and its command line") {
  CHECK(has_line(rank_with_child(), "rank 2's child 4711 (sleep 100) (main thread"));
}

TEST_CASE("processes with equal stacks are named by the ranks that have started them") {
  Stacks stacks = rank_with_child();
  add_child(stacks, 0, 4712, "sleep 100");
  add_child(stacks, 2, 4713, "sleep 100");
  CHECK(has_line(stacks, "3 children of ranks 0, 2 (main threads"));
}

TEST_CASE("processes that were too many to be looked at are counted") {
  Stacks stacks = rank_with_child();
  CHECK_FALSE(has_line(stacks, "not looked at"));
  stacks.descendants_left = 3;
  CHECK(has_line(stacks, "3 more processes started by ranks: not looked at"));
}
