#pragma once
// Locates the exceptions that ended a phase of a rank. A rank sends addresses with the error; the caller has them
// named, a batch at a time, and errors that arrive meanwhile form the next batch. Then each error gets its place, and
// all stacks together form one snapshot. Only the first errors of each rank are named, and what it sends is checked
// against limits first. Independent of loops and ranks.
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include <distrun/runner/evidence/stacks/stacks.hpp>
#include <distrun/runner/record/record.hpp>

namespace distrun::runner {

class Throws {
 public:
  static constexpr std::size_t kNamedMax = 3;  // per rank

  // Returns null if the rank has no such error.
  using FindError = std::function<RankError*(int rank, std::size_t error)>;
  using Batch = std::vector<std::pair<int, wire::RawStacks>>;

  // `error` is the index among the rank's errors. Ignores a missing stack, and one that is larger than a stack can be.
  void add(int rank, std::size_t error, wire::RawStacks stack);
  // Returns what is to be named now; empty if no error waits, or if a batch is in flight.
  Batch next_batch();
  // Takes the names of the batch; a process's index is its place in the batch, and missing ones have no names. If a
  // whole batch stays without names, naming does not work, and no further batch is tried: each would cost its bound.
  void named(evidence::Stacks stacks, const FindError& find_error);
  // Returns all named stacks, equal ones of a rank only once, and clears them.
  evidence::Stacks take() { return std::exchange(told_, {}); }

 private:
  struct Throw {
    int rank = 0;
    std::size_t error = 0;
    wire::RawStacks stack;
    bool is_new = true;  // the first of this rank's at this place
  };

  std::vector<std::pair<int, std::vector<std::uint64_t>>> seen_;  // rank and addresses of all added
  std::vector<Throw> waiting_;
  std::vector<Throw> naming_;
  evidence::Stacks told_;
  bool has_given_up_ = false;
};

// Adds the place of its throw to an error: the stack, and file and line of the innermost frame of the test's own code,
// or, if no file is known, the function's name after the text. `thread` refers to `table`; removes the unwinder's
// frames from it.
void add_place(RankError& error, const std::vector<wire::StackFrame>& table, wire::ThreadStack& thread);

}  // namespace distrun::runner
