#pragma once
// What is known of the other workers beside what the agent knows: whose loss was told, and to whom the connection was
// cut. The agent has forgotten those, and for the session they are lost.
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/rpc/agent.hpp>

namespace distrun::agents::faulty {

struct Peer {
  explicit Peer(rpc::WorkerRecord record_) : record(std::move(record_)) {}

  const rpc::WorkerRecord record;    // its address is empty if nobody has told it
  std::atomic<bool> is_cut{false};   // nothing is sent any more
  std::atomic<bool> is_lost{false};  // nor received, and the receiver has been told
  std::mutex receiving;              // held while the receiver has something of it
};
using PeerPtr = std::shared_ptr<Peer>;

// Any thread.
class Peers {
 public:
  // Makes it known if it is not, in the place of one that has joined before it.
  PeerPtr get(const rpc::WorkerInfo& worker);
  PeerPtr find(rpc::WorkerKey worker) const;
  // False: it is one to whom the connection is cut, and stays so. Another worker takes the place of one that is gone.
  bool add(const rpc::WorkerRecord& record);
  void remove(rpc::WorkerKey worker) noexcept;
  std::vector<rpc::WorkerInfo> cut() const;
  bool has_cut() const noexcept { return has_cut_.load(std::memory_order_acquire); }
  // Marks it. Null: it is not known, or was marked before.
  PeerPtr begin_cut(rpc::WorkerKey worker);
  void mark_cut(Peer& peer) noexcept;

 private:
  mutable std::shared_mutex mutex_;
  std::unordered_map<rpc::WorkerId, PeerPtr> all_;  // guarded by mutex_
  std::atomic<bool> has_cut_{false};
};

// Of who is cut off.
base::Error cut_error(const rpc::WorkerInfo& worker);

}  // namespace distrun::agents::faulty
