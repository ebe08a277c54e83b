#pragma once
// The batches of a run that wait for a lane: a schedule, and the locks of the running batches. Lives on: the
// coordinator's loop.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <distrun/common/io/one_shot.hpp>
#include <distrun/runner/plan/schedule.hpp>
#include <distrun/runner/run/named_locks.hpp>

namespace distrun::runner {

class BatchQueue {
 public:
  // With `endless`, all batches wait again once the last one has begun. `limits`: as of NamedLocks.
  BatchQueue(io::Loop& loop, std::vector<Batch> batches, Room room, bool endless = false,
             const std::vector<LockLimit>& limits = {});

  bool empty() const noexcept { return schedule_.empty() && again_and_again_.empty(); }
  // Returns a batch that may begin now, and takes its locks; nullopt if the rest does not fit beside the running ones,
  // or if other runs have its locks. Throws as NamedLocks::try_take().
  std::optional<Batch> next();
  // Call once for each batch from next(), when it has ended.
  void over(const Batch& batch);
  // Of an endless queue: this batch, or none, begins again.
  void leave_out(const Batch& batch);
  void leave_out_all();
  // Returns what is set when next() may have another answer: a batch has ended, or it is time to try locks again.
  std::shared_ptr<io::OneShot<bool>> change() const { return change_; }
  // Returns a lock that another run has and that kept the last next() from a batch; empty: none did.
  const std::string& awaited_lock() const noexcept { return awaited_lock_; }

 private:
  void tell_change();

  io::Loop& loop_;
  Schedule schedule_;
  std::vector<Batch> again_and_again_;  // of an endless queue
  NamedLocks locks_;
  std::shared_ptr<io::OneShot<bool>> change_;
  io::Alarm again_;
  std::string awaited_lock_;
};

}  // namespace distrun::runner
