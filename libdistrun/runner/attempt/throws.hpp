#pragma once
// Where the exceptions were thrown that ended a phase of a rank. A rank tells addresses with the error; whoever drives
// this gets them names, a batch at a time: errors that come meanwhile are the next batch. Then each error says its
// place, and all the stacks together make one look. Of a rank only the first errors are named, and what it tells is
// bounded before anybody works with it. Knows no loop and no ranks.
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include <distrun/runner/evidence/stacks/stacks.hpp>
#include <distrun/runner/record/record.hpp>

namespace distrun::runner {

class Throws {
 public:
  static constexpr std::size_t kNamedMax = 3;  // of one rank

  // Null if the rank has no such error.
  using FindError = std::function<RankError*(int rank, std::size_t error)>;
  using Batch = std::vector<std::pair<int, wire::RawStacks>>;

  // `error`: its place among the rank's. Ignores what has no stack, or more than a stack can have.
  void add(int rank, std::size_t error, wire::RawStacks stack);
  // What is to be named now: empty if there is nothing, or if a batch is on its way.
  Batch next_batch();
  // The batch has names; processes are told by their index in it, and those that are missing have none. After a batch
  // of which nothing is told there is no other: who gives names does not work, and each try would take its bound.
  void named(evidence::Stacks stacks, const FindError& find_error);
  // All that were named, equal ones of the same rank once. There is nothing afterwards.
  evidence::Stacks take() { return std::exchange(told_, {}); }

 private:
  struct Throw {
    int rank = 0;
    std::size_t error = 0;
    wire::RawStacks stack;
    bool is_new = true;  // no other of this rank was thrown at the same place
  };

  std::vector<std::pair<int, std::vector<std::uint64_t>>> seen_;  // rank and addresses of all
  std::vector<Throw> waiting_;
  std::vector<Throw> naming_;
  evidence::Stacks told_;
  bool has_given_up_ = false;
};

// Gives an error the place of its throw: the stack, and file and line of the innermost frame of the test's own code, or
// behind its text the function's name if no file is known. `thread` is in the table's terms; frames of the unwinder
// itself are taken from it.
void add_place(RankError& error, const std::vector<wire::StackFrame>& table, wire::ThreadStack& thread);

}  // namespace distrun::runner
