#pragma once
// Decides which tests may run at the same time. A batch is run by one lane in a row: one test, or the tests of a suite
// with persistent ranks. Pure bookkeeping.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <distrun/runner/plan/plan.hpp>

namespace distrun::runner {

struct Batch {
  std::size_t begin = 0;  // index into the run's tests
  std::size_t end = 0;
  int ranks = 0;                     // that live at once
  bool devices = false;              // its tests use devices
  std::vector<std::string> locks{};  // of its tests, sorted, each once
};
std::vector<Batch> batches(const std::vector<PlannedTest>& tests);

// Returns true if the ranks of one test may persist for the other.
bool is_alike(const PlannedTest& test, const PlannedTest& other);

// The capacity of the machines. A batch that does not fit waits; one that exceeds the capacity runs alone.
struct Room {
  std::vector<int> ranks;  // at the same time, on each machine: sixteen per core, one per 64 MiB of free memory at most
  // Returns how many ranks of a world each machine runs; empty: there is one machine.
  std::function<std::vector<int>(int world_size)> split{};

  static Room of_machine(int cores, std::uint64_t memory_available);
  // `node` must outlive the room. Not for a node whose worlds run on this machine.
  static Room of_machines(const launch::Node& node);
};

class Schedule {
 public:
  Schedule(std::vector<Batch> batches, Room room);

  // Returns the first batch that fits beside the running ones and that `may_begin`, if given, allows; it is called only
  // for batches that fit. Returns nullopt if no batch may begin now.
  std::optional<Batch> next(const std::function<bool(const Batch&)>& may_begin = {});
  void over(const Batch& batch);
  // Adds batches behind the waiting ones.
  void add(const std::vector<Batch>& batches) { waiting_.insert(waiting_.end(), batches.begin(), batches.end()); }
  // Removes a batch, if it waits.
  void remove(const Batch& batch);
  bool empty() const noexcept { return waiting_.empty(); }

 private:
  bool has_room(const Batch& batch) const;
  std::vector<int> ranks_of(const Batch& batch) const;  // on each machine

  std::vector<Batch> waiting_;
  Room room_;
  int running_ = 0;         // batches
  std::vector<int> ranks_;  // of these, on each machine
  bool devices_ = false;    // a running batch uses devices: one such at a time
};

// Returns the bytes of memory still available to programs; 0: unknown.
std::uint64_t memory_available();

}  // namespace distrun::runner
