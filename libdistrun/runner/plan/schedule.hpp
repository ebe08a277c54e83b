#pragma once
// Which tests may run at the same time. A batch is what one lane runs in a row: a test, or the tests of a suite whose
// ranks stay. Pure bookkeeping.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <distrun/runner/plan/plan.hpp>

namespace distrun::runner {

struct Batch {
  std::size_t begin = 0;  // of the run's tests
  std::size_t end = 0;
  int ranks = 0;         // that live at once
  bool devices = false;  // its tests work with devices
};
std::vector<Batch> batches(const std::vector<PlannedTest>& tests);

// Whether the ranks of one test may stay for the other.
bool is_alike(const PlannedTest& test, const PlannedTest& other);

// What the machine holds. Batches beyond it wait for others to end; a batch runs alone if it is beyond it by itself.
struct Room {
  int ranks = 0;  // at the same time: sixteen for each core, and 64 MiB of free memory for each
  static Room of_machine(int cores, std::uint64_t memory_available);
};

class Schedule {
 public:
  Schedule(std::vector<Batch> batches, Room room) : waiting_(std::move(batches)), room_(room) {}

  // The first batch that has room beside those that run. Nothing: none has, or none is left.
  std::optional<Batch> next();
  void over(const Batch& batch);
  bool empty() const noexcept { return waiting_.empty(); }

 private:
  bool has_room(const Batch& batch) const;

  std::vector<Batch> waiting_;
  Room room_;
  int running_ = 0;  // batches
  int ranks_ = 0;
  bool devices_ = false;  // somebody works with them: one at a time
};

// Bytes that programs may still take; 0: unknown.
std::uint64_t memory_available();

}  // namespace distrun::runner
