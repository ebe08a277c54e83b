#pragma once
// The references of one session of a rank: drives the protocol (protocol/fork_protocol.hpp), holds the values that are
// owned here for as long as others hold references to them, and sends again what is not acknowledged.
//
// Any thread. Values go without a lock: what they are made of may hold references itself.
#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

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
  // Ids are counted from the first.
  References(const std::shared_ptr<rpc::Calls>& calls, core::RankState& rank, std::int64_t first_id);
  ~References() override;

  // A value of this worker.
  HandlePtr make_local(Value value, base::Location site);
  // The result of a call, which stays where it is made. Throws as rpc::Calls::call().
  HandlePtr create(rpc::CallRequest request);

  // By the owner's callees: the value of a reference, which may not have been asked for yet. Throws Error{Failed} if it
  // never will be.
  std::shared_ptr<OwnedValue> find_value(RRefId r);
  // For a call that gives its id only: the value can be found for as long as what this returns is kept.
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
    std::size_t creations = 0;  // calls that are to make a value elsewhere, and are not answered
  };
  Counts counts() const;

  // The end of a session. All references that are held here are deleted, whoever uses them.
  void delete_users();
  // What is still held by others, a line each: "Leaking RRef ... with fork Id ...".
  std::vector<std::string> leaks() const;
  void close() noexcept;

  // For whoever looks from outside, up to so many rows of each kind.
  ledger::Page page(std::size_t most) const;

 private:
  // What is to be done when the lock is given up.
  struct Work {
    std::vector<std::pair<WorkerKey, ForkMessage>> sends;
    std::vector<std::shared_ptr<OwnedValue>> released;
    std::vector<std::pair<std::shared_ptr<OwnedValue>, Error>> failed;
  };

  // Changes the protocol, with the lock, and does what follows from it.
  template <class Change>
  auto change(Change change_it);
  void apply(Effects effects, Work& work);
  void perform(Work work) noexcept;
  void release_elsewhere(Work& work);
  void send(WorkerKey to, const ForkMessage& message) noexcept;
  Caretaker::Outboxes waiting(std::size_t most) const;
  void end_user(Handle& handle, Handle::State state, const std::string& why);

  HandlePtr create_here(rpc::Calls& calls, rpc::CallRequest request);
  void end_creation(const Handle& handle, const std::exception_ptr& error) noexcept;
  void end_creation_here(const Handle& handle) noexcept;
  void forget_creation(ForkId fork) noexcept;
  void fail_unsent(Handle& handle, const Error& error);
  // With the lock.
  std::shared_ptr<OwnedValue> value_of(RRefId r, const std::string& site);
  // Of one that is asked for, and may have to be made yet. Throws Error{Failed} if it never will be; Error{Overloaded}
  // if too much is asked for that nobody has made.
  std::shared_ptr<OwnedValue> asked_value(RRefId r);
  std::shared_ptr<OwnedValue> own_value(RRefId r);
  WorkerInfo worker(WorkerKey key) const;
  // With the lock.
  int rank_behind(WorkerId id) const;
  WorkerKey key_of(WorkerId id) const;
  // Returns whether a successor of the worker was met. Messages of such a worker, and its loss, change nothing: all
  // that it held and owned ended when the successor was met.
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
  std::unordered_map<RRefId, std::shared_ptr<OwnedValue>, HashId> values_;  // that others hold, or wait for
  std::unordered_map<ForkId, Handle*, HashId> users_;
  std::map<WorkerId, int> ranks_lost_;   // of workers that have gone; -1: none is known
  std::map<WorkerId, Incarnation> met_;  // of groups where workers come and go
  std::size_t creations_ = 0;
  int waiting_ = 0;  // for changed_
  bool is_closed_ = false;
  Caretaker caretaker_;
};

template <class Change>
auto References::change(Change change_it) {
  Work work;
  std::unique_lock lock(mutex_);
  if constexpr (std::is_void_v<decltype(change_it())>) {
    change_it();
    apply(protocol_.take_effects(), work);
    lock.unlock();
    perform(std::move(work));
  } else {
    auto made = change_it();
    apply(protocol_.take_effects(), work);
    lock.unlock();
    perform(std::move(work));
    return made;
  }
}

// Of the calling thread's session. Throws Error{Failed}: "Current RPC agent is not set! ...".
std::shared_ptr<References> current_references();

}  // namespace distrun::rref
