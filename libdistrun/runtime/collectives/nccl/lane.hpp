#pragma once
// A communicator of some ranks on one GPU, and the stream of its calls. The group's collectives have one for each GPU
// that a rank uses, point-to-point messages one for each direction between two ranks. Calls of one lane run in order;
// different lanes do not wait for each other.
#include <memory>
#include <mutex>
#include <string>

#include <distrun/runtime/collectives/nccl/nccl_line.hpp>
#include <distrun/runtime/collectives/nccl/pending_call.hpp>
#include <distrun/runtime/store/store.hpp>

namespace distrun::collectives {

class Lane {
 public:
  // Its ranks meet at `key` of the group's store.
  Lane(std::string key, GroupInfo group, device::Device gpu);
  ~Lane();
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  // Notifies ranks that wait for this rank at a lane that it has left the group or given it up.
  static void go(Store& store, int rank, const std::string& why) noexcept;
  // Call once, before the first call; blocks until all ranks of the lane do so. Throws Error{InvalidArgument} if two of
  // them have the same GPU, Error{Timeout} naming an absent rank, and the library's errors.
  void connect(nccl_line::Library& library, Store& store, base::TimePoint deadline);
  // Takes a communicator, instead of connect().
  void use(std::unique_ptr<nccl_line::Communicator> communicator);
  bool is_connected() const;

  // Puts the call on the stream after `before`. One at a time.
  void put(PendingCall& call, const device::Event& before);
  nccl_line::Failure failure();
  std::vector<int> missing() const;
  // Thread-safe; may be repeated, and called before connect().
  void abort(const std::string& why) noexcept;
  void close() noexcept;
  std::unique_ptr<nccl_line::Communicator> split(const GroupInfo& group, int colour, base::TimePoint deadline);

  const GroupInfo& group() const noexcept { return group_; }

 private:
  std::shared_ptr<nccl_line::Communicator> communicator() const;
  nccl_line::Id meet(nccl_line::Library& library, Store& store, base::TimePoint deadline) const;
  std::string read(Store& store, const std::string& what, int place, base::TimePoint deadline) const;
  void refuse_if_gone(Store& store, int place) const;

  const std::string key_;
  const GroupInfo group_;
  const device::Device gpu_;
  const device::Stream stream_;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::shared_ptr<nccl_line::Communicator> communicator_;  // null: not connected yet
  std::string aborted_;                                    // why; empty: not aborted
};

}  // namespace distrun::collectives
