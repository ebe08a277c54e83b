#pragma once
// State of other workers that the inner agent does not keep: which losses were reported, and which connections were
// cut. After a cut the inner agent has forgotten the worker, and for the session it is lost.
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

  const rpc::WorkerRecord record;    // the address is empty if it is not known
  std::atomic<bool> is_cut{false};   // nothing is sent any more
  std::atomic<bool> is_lost{false};  // nothing is received either; the receiver was notified
  std::mutex receiving;              // held while the receiver handles something from the peer
};
using PeerPtr = std::shared_ptr<Peer>;

// Thread-safe.
class Peers {
 public:
  // Returns the peer; adds it if it is unknown, in place of an earlier incarnation.
  PeerPtr get(const rpc::WorkerInfo& worker);
  PeerPtr find(rpc::WorkerKey worker) const;
  // Returns false if the connection to this worker is cut; it stays so. Another worker replaces one that is gone.
  bool add(const rpc::WorkerRecord& record);
  void remove(rpc::WorkerKey worker) noexcept;
  std::vector<rpc::WorkerInfo> cut() const;
  bool has_cut() const noexcept { return has_cut_.load(std::memory_order_acquire); }
  // Marks the peer as cut. Returns null if it is unknown or was marked before.
  PeerPtr begin_cut(rpc::WorkerKey worker);
  void mark_cut(Peer& peer) noexcept;

 private:
  mutable std::shared_mutex mutex_;
  std::unordered_map<rpc::WorkerId, PeerPtr> all_;  // guarded by mutex_
  std::atomic<bool> has_cut_{false};
};

// Returns the error for a worker that was cut off.
base::Error cut_error(const rpc::WorkerInfo& worker);

}  // namespace distrun::agents::faulty
