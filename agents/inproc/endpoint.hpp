#pragma once
// Connects the workers of one process: each endpoint knows its peers and owns the lanes from them. All open endpoints
// are in a table, which maps addresses to endpoints.
//
//   created -> started -> closed
//
// Thread-safe. No lock is held while a message is received or another endpoint is called.
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <agents/inproc/lane.hpp>
#include <distrun/common/base/process_mark.hpp>
#include <distrun/runtime/rpc/session/backends.hpp>

namespace distrun::agents::inproc {

class Endpoint final {
 public:
  // Creates an endpoint for the rank of the calling thread and adds it to the table.
  static std::shared_ptr<Endpoint> make(const rpc::AgentSetting& setting);
  Endpoint(const rpc::AgentSetting& setting, std::uint64_t number);

  const rpc::WorkerInfo& worker() const noexcept { return worker_; }
  std::string address() const;  // "inproc:4711:3": pid and number
  std::vector<rpc::WorkerInfo> workers() const;

  // These implement rpc::Agent.
  void add_worker(const rpc::WorkerRecord& record);
  void remove_worker(rpc::WorkerKey worker) noexcept;
  void look_after(rpc::WorkerKey worker) noexcept;
  static bool is_gone(const std::string& address) noexcept;
  void start(rpc::Receiver& receiver);
  void send(rpc::WorkerKey to, rpc::Message message);
  bool has_room(rpc::WorkerKey to) const noexcept;
  void give_up(rpc::WorkerKey peer, const Error& why) noexcept;
  void set_end(const std::string& why, int because_of) noexcept;
  void close() noexcept;
  std::map<std::string, std::string> debug_info() const;

 private:
  struct Peer {
    rpc::WorkerInfo worker;
    std::uint64_t number = 0;   // of its endpoint
    std::shared_ptr<Lane> in;   // from the peer
    std::shared_ptr<Lane> out;  // to the peer; null until the first message
    std::optional<Error> gone;  // why nothing can be sent to it
    bool is_member = true;      // until it is removed
  };

  // Returns the lane from `from` to this endpoint. Throws Error{Disconnected}.
  std::shared_ptr<Lane> accept(const Endpoint& from);
  // Return the lane to that worker, created for the first message. Throw as send().
  std::shared_ptr<Lane> lane_to(rpc::WorkerKey to);
  std::shared_ptr<Lane> connect(rpc::WorkerKey to);
  void lose(rpc::WorkerId id, std::uint64_t number, const Error& why) noexcept;
  // Later messages to that worker fail with `why`. Returns the lane from it, which the caller ends; null: it is not
  // known.
  std::shared_ptr<Lane> note_loss(rpc::WorkerId id, std::uint64_t number, const Error& why) noexcept;
  void close_lanes() noexcept;
  // These require mutex_. Throw Error{InvalidArgument} and Error{Disconnected}. If `worker` replaces an earlier
  // incarnation, `before` returns the lane from that one; the caller ends it, without the lock.
  Peer& add(const rpc::WorkerInfo& worker, std::uint64_t number, std::shared_ptr<Lane>& before);
  Peer& reachable(rpc::WorkerKey worker);
  // Requires mutex_. Adds a peer again that was lost or has been removed.
  void renew(Peer& peer);

  const base::ProcessMark mark_;
  const rpc::WorkerInfo worker_;
  const std::uint64_t number_;
  const std::string secret_;
  std::string end_;          // why this worker leaves, for its peers; guarded by mutex_
  int end_because_of_ = -1;  // the rank that caused it; -1: none is known
  core::RankState& rank_;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::map<rpc::WorkerId, Peer> peers_;
  std::vector<std::shared_ptr<Lane>> past_;  // from replaced peers, until they are over
  rpc::Receiver* receiver_ = nullptr;
  bool is_closed_ = false;
};

}  // namespace distrun::agents::inproc
