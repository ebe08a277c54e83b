#pragma once
// A communicator of some ranks on one GPU, and the stream that its calls are on: the group's collectives have one for
// each GPU that a rank uses, letters one for each direction between two ranks. Calls of one lane follow each other,
// those of several do not wait for each other.
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

  // The rank has left the group, or given it up: who waits for it to come to a lane hears of it.
  static void go(Store& store, int rank, const std::string& why) noexcept;
  // Before the first call, once; blocks until all of its ranks do so. Throws Error{InvalidArgument} if two of them have
  // the same GPU, Error{Timeout} naming who does not come, and what the library says.
  void connect(nccl_line::Library& library, Store& store, base::TimePoint deadline);
  // Instead.
  void use(std::unique_ptr<nccl_line::Communicator> communicator);
  bool is_connected() const;

  // Behind what `before` stands for. One at a time.
  void put(PendingCall& call, const device::Event& before);
  nccl_line::Failure failure();
  std::vector<int> missing() const;
  // Any thread, again and again; also before it is connected.
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
  std::shared_ptr<nccl_line::Communicator> communicator_;  // null: there is none yet
  std::string aborted_;                                    // why; empty: it is not
};

}  // namespace distrun::collectives
