#pragma once
// Compares the ranks' calls, for libraries that hang or misbehave if the calls differ. The comparison runs beside the
// streams, in shared memory as for `shm`, as soon as each rank has put its call on its stream. Absent ranks, different
// calls and ranks that have gone are reported as there. It costs the caller no time, since a handler does it.
#include <atomic>
#include <functional>
#include <memory>

#include <distrun/runtime/collectives/backend.hpp>
#include <distrun/runtime/collectives/call_queue.hpp>
#include <distrun/runtime/collectives/shm/exchange.hpp>
#include <distrun/runtime/store/store.hpp>

namespace distrun::collectives {

// The comparison of one rank of a group. Thread-safe.
class Comparison : public std::enable_shared_from_this<Comparison> {
 public:
  // Called with null if all ranks made the same call, else with the error that HostBackend::run() would throw.
  using Told = std::function<void(std::exception_ptr wrong)>;

  // Meets the other ranks in the group's store.
  static std::shared_ptr<Comparison> meet(Store& store, const GroupInfo& group, base::TimePoint deadline);

  Comparison(const GroupInfo& group, std::shared_ptr<shm::Area> area);

  // Compares the calls in the order of their numbers; nothing more is compared after a difference.
  void compare(const Call& call, Told told);
  // Returns true if no comparison is pending.
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
  bool is_wrong_ = false;  // only used by the thread that runs the queue
  std::once_flag left_;
};

}  // namespace distrun::collectives
