#pragma once
// The agent "faulty": wraps another agent and applies the faults of a plan (fates.hpp) to the messages that it sends.
// The receiving side only handles cut connections: the end that cuts reports it to its peer by a message that other
// agents ignore. Without faults it behaves like the inner agent.
//
// Never blocks. close() sends the messages that are held back if its limit is above 0, and drops them otherwise.
#include <agents/faulty/corruption.hpp>
#include <agents/faulty/fates.hpp>
#include <agents/faulty/held.hpp>
#include <agents/faulty/peers.hpp>
#include <agents/faulty/tally.hpp>
#include <distrun/common/base/process_mark.hpp>
#include <distrun/runtime/rpc/agent.hpp>

namespace distrun::agents::faulty {

class FaultyAgent final : public rpc::Agent, private rpc::Receiver, private DueEvents {
 public:
  // The agent belongs to the rank of the calling thread. `inner` must not have been started.
  FaultyAgent(std::shared_ptr<rpc::Agent> inner, wire::FaultPlan plan);
  ~FaultyAgent() override { close(base::Nanoseconds(0)); }

  const rpc::WorkerInfo& worker_info() const noexcept override { return inner_->worker_info(); }
  std::vector<rpc::WorkerInfo> worker_infos() const override;
  std::string address() const override { return inner_->address(); }
  void add_worker(const rpc::WorkerRecord& record) override;
  void remove_worker(rpc::WorkerKey worker) noexcept override;
  bool is_gone(const rpc::WorkerRecord& record) const override { return inner_->is_gone(record); }
  void start(rpc::Receiver& receiver) override;
  // Also throws Error{Overloaded} "RPCErr:2:Send attempt failed intentionally for ...", and if too much is held back.
  void send(rpc::WorkerKey to, rpc::Message message, rpc::Urgency urgency) override;
  bool has_room(rpc::WorkerKey to) const noexcept override { return held_.has_room() && inner_->has_room(to); }
  void look_after(rpc::WorkerKey peer) noexcept override { inner_->look_after(peer); }
  void give_up(rpc::WorkerKey peer, const base::Error& why) noexcept override { inner_->give_up(peer, why); }
  std::shared_ptr<future::Progress> progress() const noexcept override { return inner_->progress(); }
  void set_end(const std::string& why, int because_of) noexcept override { inner_->set_end(why, because_of); }
  void close(base::Nanoseconds limit) noexcept override;
  // Calls to oneself meet faults, too. Cuts are between two workers.
  bool carries_own() const noexcept override { return !fates_.plan().faults.empty(); }
  bool is_by_hand() const noexcept override { return inner_->is_by_hand(); }
  // Adds "faulty.seed", "faulty.plan", "faulty.dropped.call", "faulty.cut.worker1", "faulty.last_corruption".
  std::map<std::string, std::string> debug_info() const override;

 private:
  std::unique_ptr<future::HandlerTask> receive(const rpc::WorkerInfo& from, rpc::Message message) noexcept override;
  void lose(const rpc::WorkerInfo& peer, const base::Error& why) noexcept override;
  void bring(rpc::WorkerKey to, rpc::Message message) noexcept override;
  void carry_out_cut(rpc::WorkerKey to) noexcept override;

  void refuse_cut(rpc::WorkerKey to) const;
  bool is_past_faults(rpc::WorkerKey to) const;
  void strike(rpc::WorkerKey to, wire::FaultKind kind, rpc::Message message, rpc::Urgency urgency, const Fate& fate);
  void fail(rpc::WorkerKey to, wire::FaultKind kind, const rpc::Message& message);
  void corrupt_message(rpc::WorkerKey to, wire::FaultKind kind, rpc::Message& message, std::uint64_t drawn);
  void pass(rpc::WorkerKey to, std::optional<wire::FaultKind> kind, rpc::Message message, rpc::Urgency urgency,
            const Fate& fate);
  void carry(rpc::WorkerKey to, rpc::Message message, rpc::Urgency urgency);
  void receive_own(rpc::Message message);
  bool is_own(rpc::WorkerKey to) const noexcept { return to.id == worker_info().id(); }
  void forward(rpc::WorkerKey to, rpc::Message message, rpc::Urgency urgency);
  void done(Done done, wire::FaultKind kind, rpc::WorkerKey to, const rpc::Message& message) noexcept;
  std::string name_of_worker(rpc::WorkerKey worker) const;
  // Requires the peer's `receiving` lock.
  void tell_loss(Peer& peer, const rpc::WorkerInfo& worker, const base::Error& why) noexcept;

  const base::ProcessMark mark_;
  const std::shared_ptr<rpc::Agent> inner_;
  core::RankState& rank_;
  Fates fates_;
  Tally tally_;
  Peers peers_;
  Held held_;
  std::atomic<rpc::Receiver*> receiver_{nullptr};
  std::atomic<bool> is_closed_{false};
  mutable std::mutex mutex_;
  std::string last_corruption_;  // guarded by mutex_
};

}  // namespace distrun::agents::faulty
