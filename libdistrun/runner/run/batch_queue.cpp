#include <distrun/runner/run/batch_queue.hpp>

#include <utility>

namespace distrun::runner {
namespace {

// There is no event when another run releases a lock.
constexpr base::Nanoseconds kLocksPeriod = std::chrono::milliseconds(100);

}  // namespace

BatchQueue::BatchQueue(io::Loop& loop, std::vector<Batch> batches, Room room, bool endless,
                       const std::vector<LockLimit>& limits)
    : loop_(loop),
      schedule_(batches, std::move(room)),
      again_and_again_(endless ? std::move(batches) : std::vector<Batch>{}),
      locks_(limits),
      change_(std::make_shared<io::OneShot<bool>>(loop)),
      again_(loop, [this] { tell_change(); }) {}

std::optional<Batch> BatchQueue::next() {
  awaited_lock_.clear();
  if (schedule_.empty()) schedule_.add(again_and_again_);
  std::optional<Batch> batch = schedule_.next([&](const Batch& each) {
    const NamedLocks::Answer answer = locks_.try_take(each.locks);
    if (awaited_lock_.empty()) awaited_lock_ = answer.held_elsewhere;
    return answer.taken;
  });
  if (batch) awaited_lock_.clear();
  if (!awaited_lock_.empty()) again_.set_after(kLocksPeriod);
  return batch;
}

void BatchQueue::over(const Batch& batch) {
  schedule_.over(batch);
  locks_.release(batch.locks);
  tell_change();
}

void BatchQueue::leave_out(const Batch& batch) {
  std::erase_if(again_and_again_, [&](const Batch& each) { return each.begin == batch.begin; });
  schedule_.remove(batch);
}

void BatchQueue::leave_out_all() {
  for (const Batch& batch : std::exchange(again_and_again_, {})) schedule_.remove(batch);
  tell_change();
}

void BatchQueue::tell_change() { std::exchange(change_, std::make_shared<io::OneShot<bool>>(loop_))->set(true); }

}  // namespace distrun::runner
