#include <agents/inproc/lane.hpp>

#include <utility>

#include <distrun/runtime/core/thread_state.hpp>
#include <distrun/runtime/core/wait.hpp>
#include <distrun/runtime/future/handler_pool.hpp>

namespace distrun::agents::inproc {
namespace {

constexpr std::uint64_t kMessagesMax = 100'000;
constexpr std::uint64_t kInLaneMax = 64ull << 20;  // bytes
constexpr std::uint64_t kInPoolMax = 1ull << 30;
constexpr std::uint64_t kAnswersMax = 1ull << 30;  // bytes in the lane
constexpr int kReceivedAtOnce = 64;                // then a thread of the receiver takes over, and the sender continues

core::ThreadState state_of(core::RankState& rank) {
  core::ThreadState state;
  state.rank = &rank;
  return state;
}

}  // namespace

// Runs on the receiver's pool. Without a task of the receiver it continues to empty the lane.
class LaneTask final : public future::HandlerTask {
 public:
  LaneTask(std::shared_ptr<Lane> lane, std::unique_ptr<future::HandlerTask> task, std::uint64_t bytes)
      : lane_(std::move(lane)), task_(std::move(task)), bytes_(bytes) {}

  void run() noexcept override {
    if (task_ == nullptr) return Lane::empty_soon(lane_);
    {
      const std::lock_guard lock(lane_->mutex_);
      lane_->in_pool_.take(bytes_);
    }
    task_->run();
  }
  future::TaskInfo info() const noexcept override { return task_ != nullptr ? task_->info() : future::TaskInfo(); }

 private:
  std::shared_ptr<Lane> lane_;
  std::unique_ptr<future::HandlerTask> task_;
  std::uint64_t bytes_;
};

bool Lane::has_room_for(rpc::MessageKind kind) const noexcept {
  if (kind == rpc::MessageKind::Reply) return in_lane_.bytes < kAnswersMax;
  if (kind != rpc::MessageKind::Call) return true;
  return in_lane_.messages + in_pool_.messages < kMessagesMax && in_lane_.bytes < kInLaneMax &&
         in_pool_.bytes < kInPoolMax;
}

bool Lane::has_room() const noexcept {
  const std::lock_guard lock(mutex_);
  return has_room_for(rpc::MessageKind::Call);
}

void Lane::check_room(rpc::MessageKind kind) const {
  const std::lock_guard lock(mutex_);
  if (has_room_for(kind)) return;
  const std::uint64_t messages = in_lane_.messages + in_pool_.messages;
  throw Error(ErrorKind::Overloaded, "too much data is in flight to " + to_.name() + ": " + std::to_string(messages) +
                                         " messages of " + std::to_string((in_lane_.bytes + in_pool_.bytes) >> 20) +
                                         " MiB are queued");
}

bool Lane::push(rpc::Message message) {
  const std::uint64_t bytes = rpc::bytes_of(message);
  {
    const std::lock_guard lock(mutex_);
    if (is_closed_ || end_) return false;
    held_.push_back({std::move(message), bytes});
    in_lane_.add(bytes);
    ++counts_.pushed;
    if (!claim()) return true;
  }
  empty_soon(shared_from_this());
  return true;
}

void Lane::end(Error why) noexcept {
  {
    const std::lock_guard lock(mutex_);
    if (is_closed_ || end_) return;
    end_ = std::move(why);
    if (!claim()) return;
  }
  empty_soon(shared_from_this());
}

void Lane::forgive() {
  const std::lock_guard lock(mutex_);
  is_told_ = true;
}

void Lane::open(rpc::Receiver& receiver) {
  {
    const std::lock_guard lock(mutex_);
    if (is_closed_ || receiver_ != nullptr) return;
    receiver_ = &receiver;
    if (!claim()) return;
  }
  empty_soon(shared_from_this());
}

// The wait is unbounded because the receiver must not be destroyed earlier; receivers must not block.
void Lane::close() noexcept {
  std::unique_lock lock(mutex_);
  is_closed_ = true;
  receiver_ = nullptr;
  in_lane_ = {};
  board::WaitInfo info;
  info.kind = board::WaitKind::RpcReply;
  info.name = "a message in delivery";
  core::wait_until(info, lock, done_, core::kForever,
                   [this] { return receiving_ == nullptr || receiving_ == &core::thread_state(); });
  lock.unlock();
  held_.clear();  // a closed lane is left alone; an empty deque to swap it with would take memory
}

Lane::Counts Lane::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

bool Lane::is_over() const {
  const std::lock_guard lock(mutex_);
  return is_closed_ || (end_ && is_told_ && held_.empty() && receiving_ == nullptr);
}

bool Lane::claim() noexcept {
  if (is_claimed_ || !has_work()) return false;
  is_claimed_ = true;
  return true;
}

void Lane::Claimed::add(std::shared_ptr<Lane> lane) noexcept {
  Lane* const before = std::exchange(last, lane.get());
  (first == nullptr ? first : before->next_) = std::move(lane);
}

std::shared_ptr<Lane> Lane::Claimed::take_first() noexcept {
  std::shared_ptr<Lane> taken = std::move(first);
  if (taken != nullptr) first = std::move(taken->next_);
  return taken;
}

void Lane::empty_soon(std::shared_ptr<Lane> lane) noexcept {
  constinit thread_local Claimed* of_thread = nullptr;
  if (of_thread != nullptr) return of_thread->add(std::move(lane));  // this thread already empties a lane
  Claimed more;
  of_thread = &more;
  for (; lane != nullptr; lane = more.take_first()) lane->empty();
  of_thread = nullptr;
}

void Lane::empty() noexcept {
  std::unique_lock lock(mutex_);
  for (int count = 0; has_work(); ++count) {
    if (count == kReceivedAtOnce && hand_over()) return;
    if (held_.empty()) {
      receive_end(lock);
    } else {
      receive_first(lock);
    }
  }
  is_claimed_ = false;
}

// Moves the work to the receiver's pool, so that other threads of its rank that keep sending do not hold this one.
bool Lane::hand_over() noexcept {
  try {
    future::handler_pool_of(rank_).post_control(std::make_unique<LaneTask>(shared_from_this(), nullptr, 0));
    return true;
  } catch (const std::exception&) {
    return false;  // there is no other thread, or no memory
  }
}

template <class Receive>
void Lane::as_receiver(std::unique_lock<std::mutex>& lock, Receive receive) {
  rpc::Receiver& receiver = *receiver_;
  receiving_ = &core::thread_state();
  lock.unlock();
  {
    const core::ThreadStateGuard of_receiver(state_of(rank_));
    receive(receiver);
  }
  lock.lock();
  receiving_ = nullptr;
  done_.notify_all();
}

void Lane::receive_first(std::unique_lock<std::mutex>& lock) {
  Held first = std::move(held_.front());
  held_.pop_front();
  in_lane_.take(first.bytes);
  in_pool_.add(first.bytes);
  ++counts_.received;
  const rpc::MessageKind kind = first.message.kind;
  as_receiver(lock, [&](rpc::Receiver& receiver) {
    post(receiver.receive(from_, std::move(first.message)), kind, first.bytes);
  });
}

void Lane::receive_end(std::unique_lock<std::mutex>& lock) {
  is_told_ = true;
  const Error why = std::move(*end_);  // nothing else reads it
  as_receiver(lock, [&](rpc::Receiver& receiver) { receiver.lose(from_, why); });
}

// A task without a thread, or memory, to run it reports that itself when it is destroyed.
void Lane::post(std::unique_ptr<future::HandlerTask> task, rpc::MessageKind of, std::uint64_t bytes) noexcept {
  try {
    if (task != nullptr) {
      future::HandlerPool& pool = future::handler_pool_of(rank_);
      auto counted = std::make_unique<LaneTask>(shared_from_this(), std::move(task), bytes);
      return of == rpc::MessageKind::Control ? pool.post_control(std::move(counted)) : pool.post(std::move(counted));
    }
  } catch (const std::exception&) {
  }
  const std::lock_guard lock(mutex_);
  in_pool_.take(bytes);
}

}  // namespace distrun::agents::inproc
