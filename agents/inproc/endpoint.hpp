#pragma once
// What the workers of a process have of each other: whom each knows, and the lanes between them. All live ones are in a
// table, where an address leads to one.
//
//   made -> started -> closed
//
// Any thread. No lock is held while a message is received, nor while another endpoint is asked for something.
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
  // Into the table, for the rank whose work the calling thread does.
  static std::shared_ptr<Endpoint> make(const rpc::AgentSetting& setting);
  Endpoint(const rpc::AgentSetting& setting, std::uint64_t number);

  const rpc::WorkerInfo& worker() const noexcept { return worker_; }
  std::string address() const;  // "inproc:4711:3": pid and number
  std::vector<rpc::WorkerInfo> workers() const;

  // As those of rpc::Agent.
  void add_worker(const rpc::WorkerRecord& record);
  void remove_worker(rpc::WorkerKey worker) noexcept;
  static bool is_gone(const std::string& address) noexcept;
  void start(rpc::Receiver& receiver);
  void send(rpc::WorkerKey to, rpc::Message message);
  bool has_room(rpc::WorkerKey to) const noexcept;
  void set_end(const std::string& why) noexcept;
  void close() noexcept;
  std::map<std::string, std::string> debug_info() const;

 private:
  struct Peer {
    rpc::WorkerInfo worker;
    std::uint64_t number = 0;   // of its endpoint
    std::shared_ptr<Lane> in;   // from it
    std::shared_ptr<Lane> out;  // to it; null: nothing was sent yet
    std::optional<Error> gone;  // why nothing is sent to it
    bool is_member = true;      // until it is removed
  };

  // The lane from that one to this. Throws Error{Disconnected}.
  std::shared_ptr<Lane> accept(const Endpoint& from);
  // What to send by, which is made for the first message. Throw as send().
  std::shared_ptr<Lane> lane_to(rpc::WorkerKey to);
  std::shared_ptr<Lane> connect(rpc::WorkerKey to);
  void lose(rpc::WorkerId id, std::uint64_t number, const Error& why) noexcept;
  // With the lock held. Throw Error{InvalidArgument} and Error{Disconnected}.
  // `before`: the lane from one that is there and has the id, if the new one has joined after it. The caller ends it,
  // without the lock.
  Peer& add(const rpc::WorkerInfo& worker, std::uint64_t number, std::shared_ptr<Lane>& before);
  Peer& reachable(rpc::WorkerKey worker);

  const base::ProcessMark mark_;
  const rpc::WorkerInfo worker_;
  const std::uint64_t number_;
  const std::string secret_;
  std::string end_;  // why it leaves, for its peers; guarded by mutex_
  core::RankState& rank_;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::map<rpc::WorkerId, Peer> peers_;
  std::vector<std::shared_ptr<Lane>> past_;  // of peers that have left, in whose places are others; until they are over
  rpc::Receiver* receiver_ = nullptr;
  bool is_closed_ = false;
};

}  // namespace distrun::agents::inproc
