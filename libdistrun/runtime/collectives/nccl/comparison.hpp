#pragma once
// For libraries that hang or do what they like when ranks do not call the same: the ranks compare their calls beside
// the streams, in the memory that `shm` would share, as soon as each has put its own on its stream. Who does not come,
// calls something else or has gone is told as there. It costs the caller nothing: a handler does it.
#include <atomic>
#include <functional>
#include <memory>

#include <distrun/runtime/collectives/backend.hpp>
#include <distrun/runtime/collectives/call_queue.hpp>
#include <distrun/runtime/collectives/shm/exchange.hpp>
#include <distrun/runtime/store/store.hpp>

namespace distrun::collectives {

// Of a rank of a group. Any thread.
class Comparison : public std::enable_shared_from_this<Comparison> {
 public:
  // Null: all have called it, and the same. Else what is wrong, as Backend::run() throws it.
  using Told = std::function<void(std::exception_ptr wrong)>;

  // Meets the others, in the group's store.
  static std::shared_ptr<Comparison> meet(Store& store, const GroupInfo& group, base::TimePoint deadline);

  Comparison(const GroupInfo& group, std::shared_ptr<shm::Area> area);

  // In the order of their numbers; none is compared after one that is wrong.
  void compare(const Call& call, Told told);
  // Nothing is left to compare.
  bool is_idle() const noexcept { return left_over_.load() == 0; }
  void leave(Leaving how, const std::string& why) noexcept;
  std::vector<int> missing() const { return exchanges_.missing(); }

 private:
  void gather(const Call& call);

  const GroupInfo group_;
  const std::shared_ptr<shm::Area> area_;
  const shm::Bells bells_;
  shm::Exchanges exchanges_;
  const std::shared_ptr<CallQueue> queue_;
  std::atomic<int> left_over_{0};
  bool is_wrong_ = false;  // of who runs the queue
  std::once_flag left_;
};

}  // namespace distrun::collectives
