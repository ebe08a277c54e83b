#pragma once
// The references of one session of a rank. Drives the protocol (protocol/fork_protocol.hpp), keeps the values that are
// owned here while other workers hold references to them, and resends unacknowledged messages.
//
// Thread-safe. Values are destroyed without the lock, since they may hold references themselves.
#include <array>
#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <distrun/common/base/if_memory.hpp>
#include <distrun/common/base/process_mark.hpp>
#include <distrun/common/ledger/ledger.hpp>
#include <distrun/runtime/rpc/calls/calls.hpp>
#include <distrun/runtime/rref/caretaker.hpp>
#include <distrun/runtime/rref/handle.hpp>
#include <distrun/runtime/rref/owned_value.hpp>
#include <distrun/runtime/rref/protocol/fork_protocol.hpp>

namespace distrun::rref {

class References final : public rpc::ReferenceService, public Keeper, public std::enable_shared_from_this<References> {
 public:
  // `first_id`: the first id to use.
  References(const std::shared_ptr<rpc::Calls>& calls, core::RankState& rank, std::int64_t first_id);
  ~References() override;

  // Creates a value of this worker.
  HandlePtr make_local(Value value, base::Location site);
  // Creates a reference to the result of a call, which stays on the callee. Throws as rpc::Calls::call().
  HandlePtr create(rpc::CallRequest request);

  // Called by functions at the owner: returns the value of a reference, which may not be requested yet. Throws
  // Error{Failed} if it will never exist.
  std::shared_ptr<OwnedValue> find_value(RRefId r);
  // Keeps the value of a call that passes only the id findable while the returned object exists.
  std::shared_ptr<const void> lend(const HandlePtr& handle);

  // Keeper
  void drop(const Handle& handle) noexcept override;
  std::shared_ptr<rpc::Calls> calls() const override;
  const WorkerInfo& self() const noexcept override { return self_; }

  // rpc::ReferenceService
  wire::Bytes share(const rpc::Reference& reference, WorkerKey to) override;
  void withdraw(const wire::Bytes& fork, WorkerKey to) noexcept override;
  rpc::ReferencePtr receive(const WorkerInfo& from, const wire::Bytes& fork) override;
  void wait_confirmed(const std::vector<rpc::ReferencePtr>& references, base::TimePoint deadline) override;
  std::shared_ptr<rpc::ResultSink> begin_result(const WorkerInfo& from, const wire::Bytes& section) override;
  void receive_message(const WorkerInfo& from, const wire::Bytes& bytes) override;
  void lose(const WorkerInfo& peer, const base::Error& why) noexcept override;
  void meet(const WorkerInfo& peer) override;

  struct Counts : ForkCounts {
    std::size_t creations = 0;  // pending calls that create a value elsewhere
  };
  Counts counts() const;

  // Ends the session: deletes all references that are held here, even if they are in use.
  void delete_users();
  // Returns a line for each reference that other workers still hold: "Leaking RRef ... with fork Id ...".
  std::vector<std::string> leaks() const;
  void close() noexcept;

  // Returns the page for other processes, with at most that many rows of each kind.
  ledger::Page page(std::size_t most) const;

 private:
  // Actions to take after the lock is released.
  struct Work {
    std::vector<std::pair<WorkerKey, ForkMessage>> sends;
    std::vector<std::shared_ptr<OwnedValue>> released;
    std::vector<std::pair<std::shared_ptr<OwnedValue>, Error>> failed;
  };

  // Changes the protocol while holding the lock, then carries out the effects.
  template <class Change>
  auto change(Change change_it);
  // The same of what must not throw. Without memory the owner's value is kept until the references of the session are
  // deleted.
  template <class Change>
  void change_if_memory(Change change_it) noexcept {
    base::if_memory([&] { change(change_it); }, [&] { notice(); });
  }
  // Records a loss that finds no memory, for the caretaker, which repeats it.
  void miss(WorkerKey peer, int because_of) noexcept;
  void lose_missed() noexcept;
  void lose_or_throw(const WorkerInfo& peer, const base::Error& why);
  // Takes the protocol's effects. Throws before it has taken them, if it finds no memory: then a later change, or the
  // caretaker, applies them.
  void apply(Work& work);
  void make_room_in(Work& work);
  void list_uncreated(Work& work);
  // Applies effects that were left because memory was missing.
  void apply_left() noexcept;
  void notice() noexcept;
  void perform(Work work) noexcept;
  void release_elsewhere(Work& work);
  void send(WorkerKey to, const ForkMessage& message) noexcept;
  Caretaker::Outboxes waiting(std::size_t most) const;
  void end_user(Handle& handle, Handle::State state, std::string why) noexcept;

  HandlePtr create_here(rpc::Calls& calls, rpc::CallRequest request);
  void end_creation(const Handle& handle, const std::exception_ptr& error) noexcept;
  void end_creation_here(const Handle& handle) noexcept;
  void forget_creation(ForkId fork) noexcept;
  void fail_unsent(Handle& handle, const Error& error);
  // Requires the lock.
  std::shared_ptr<OwnedValue> value_of(RRefId r, const std::string& site);
  // Returns a value that is asked for, and may not be created yet. Throws Error{Failed} if it never will be,
  // Error{Overloaded} if too many values are asked for that do not exist.
  std::shared_ptr<OwnedValue> asked_value(RRefId r);
  std::shared_ptr<OwnedValue> own_value(RRefId r);
  void fail_unmade(const OwnedSection& asked) noexcept;  // takes the lock
  std::shared_ptr<OwnedValue> own_created(const OwnedSection& section, WorkerId holder);
  WorkerInfo worker(WorkerKey key) const;
  // Require the lock.
  int rank_behind(WorkerId id) const;
  WorkerKey key_of(WorkerId id) const;
  // Returns whether a successor of the worker was met. Messages and the loss of such a worker have no effect: all that
  // it held and owned ended when the successor was met.
  bool is_past(WorkerKey worker) const;
  void refuse_past(const WorkerInfo& from) const;
  HandlePtr make_handle(WorkerInfo owner, RRefId r);

  friend class Creation;

  const base::ProcessMark mark_;
  const std::weak_ptr<rpc::Calls> calls_;
  core::RankState& rank_;
  const WorkerInfo self_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  ForkProtocol protocol_;
  std::unordered_map<RRefId, std::shared_ptr<OwnedValue>, HashId> values_;  // that others hold or wait for
  std::unordered_map<ForkId, Handle*, HashId> users_;
  std::map<WorkerId, int> ranks_lost_;   // of lost workers; -1: unknown
  std::map<WorkerId, Incarnation> met_;  // for elastic groups
  struct Missed {
    WorkerKey peer;
    int because_of = -1;
  };
  std::array<Missed, 64> missed_;  // losses; those beyond keep values until the session ends
  std::size_t missed_count_ = 0;
  std::size_t creations_ = 0;
  int waiting_ = 0;  // threads waiting on changed_
  bool is_closed_ = false;
  Caretaker caretaker_;
};

template <class Change>
auto References::change(Change change_it) {
  Work work;
  std::unique_lock lock(mutex_);
  if constexpr (std::is_void_v<decltype(change_it())>) {
    change_it();
    apply(work);
    lock.unlock();
    perform(std::move(work));
  } else {
    auto made = change_it();
    apply(work);
    lock.unlock();
    perform(std::move(work));
    return made;
  }
}

// Returns those of the calling thread's session. Throws Error{Failed}: "Current RPC agent is not set! ...".
std::shared_ptr<References> current_references();

}  // namespace distrun::rref
