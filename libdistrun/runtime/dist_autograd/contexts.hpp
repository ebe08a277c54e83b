#pragma once
// The contexts of a worker in one session, its passes over them, and the data that calls carry for them.
//
// A context exists from its scope, or from its first message that arrives, until its opener releases it or is lost.
// Released ids are remembered (up to kReleasedRanges ranges): their late messages belong to no context, and don't
// recreate one.
//
// Releases are calls, repeated until they are answered, the worker is lost, or the session ends, with pauses of up to
// some seconds (callees.cpp). A worker that is notified of one notifies the others that it knows of the context.
#include <atomic>
#include <memory>
#include <mutex>
#include <unordered_map>

#include <distrun/common/base/recent.hpp>
#include <distrun/runtime/dist_autograd/context.hpp>
#include <distrun/runtime/dist_autograd/released_ids.hpp>
#include <distrun/runtime/rpc/calls/calls.hpp>

namespace distrun::dist_autograd {

using rpc::WorkerInfo;

// This worker's part in a backward pass (pass.hpp), as seen by the session.
class PassPart {
 public:
  virtual ~PassPart() = default;
  virtual Context& context() const noexcept = 0;
  virtual void fail(const Error& error) noexcept = 0;
};
using PassPartPtr = std::shared_ptr<PassPart>;

// Thread-safe.
class Contexts final : public rpc::AutogradService, public std::enable_shared_from_this<Contexts> {
 public:
  // Ids are counted from `first`.
  Contexts(const std::shared_ptr<rpc::Calls>& calls, std::int64_t first);
  ~Contexts() override;

  std::shared_ptr<Context> make();
  std::shared_ptr<Context> find(ContextId id) const;  // null: not found
  // Throws Error{Failed, "RuntimeError"}: "Could not find autograd context with id: 7".
  std::shared_ptr<Context> get(ContextId id, base::Location site) const;
  // Returns false, and notifies no worker, if the context is not here.
  bool release(ContextId id, WorkerId told_by) noexcept;
  // Returns the worker that assigned an id: that opened the context, sent the message, or began the pass.
  static WorkerId giver_of(std::int64_t id) noexcept { return static_cast<WorkerId>(id >> kWorkerBits); }
  // Returns whether that worker assigned the id. The worker after `earlier` others counts from first_of(earlier).
  static bool is_given_by(std::int64_t id, WorkerKey worker) noexcept;
  static std::int64_t first_of(std::uint64_t earlier) noexcept;
  ContextId max_id() const noexcept { return base_ | kCountMost; }

  // The passes that this worker takes part in. `make_pass` is called if none has that id. Throws the error of a pass
  // that is over.
  PassId next_pass_id() noexcept { return base_ | next_pass_.fetch_add(1); }
  PassPartPtr find_pass(PassId id) const;
  PassPartPtr find_or_add_pass(PassId id, const std::function<PassPartPtr()>& make_pass);
  // `why`: the error of a failed one.
  void end_pass(PassId id, const std::optional<Error>& why) noexcept;

  // Called when a worker is lost: releases the contexts that it opened, and fails the passes that it may take part in.
  void lose(const WorkerInfo& peer, const Error& why) noexcept;
  void close() noexcept;

  struct Counts {
    std::size_t contexts = 0;
    std::size_t passes = 0;
  };
  Counts counts() const;
  // Returns null if the session is over.
  std::shared_ptr<rpc::Calls> calls() const { return calls_.lock(); }
  WorkerId self() const noexcept { return self_; }

  // rpc::AutogradService
  std::optional<rpc::Departed> depart(const rpc::Departure& departure) override;
  void withdraw(std::int64_t context, std::int64_t message) noexcept override;
  std::unique_ptr<rpc::Arrival> arrive(const WorkerInfo& from, const wire::Bytes& section, const TensorList& carried,
                                       const rpc::DeviceMap& back) override;

 private:
  static constexpr int kWorkerBits = 48;
  static constexpr std::int64_t kCountMost = (std::int64_t{1} << kWorkerBits) - 1;
  static constexpr std::size_t kReleasedRanges = 65'536;
  static constexpr std::size_t kOverMax = 4096;

  // Returns null if it was released.
  std::shared_ptr<Context> find_or_add(ContextId id);
  std::vector<PassPartPtr> passes_with(WorkerKey peer) const;

  const std::weak_ptr<rpc::Calls> calls_;
  const WorkerId self_;
  const std::int64_t base_;  // of this worker's ids
  std::atomic<std::int64_t> next_message_, next_pass_;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::int64_t next_context_;
  std::unordered_map<ContextId, std::shared_ptr<Context>> contexts_;
  std::unordered_map<PassId, PassPartPtr> passes_;
  ReleasedIds released_{kReleasedRanges};
  base::Recent<PassId> over_{kOverMax};         // ids of passes
  std::unordered_map<PassId, Error> failures_;  // of those passes
  bool is_closed_ = false;
};

// Returns those of the calling thread's session, or null.
std::shared_ptr<Contexts> find_contexts() noexcept;
// Throws Error{Failed}: "RPC has not been initialized. ...".
std::shared_ptr<Contexts> current_contexts(base::Location site);

}  // namespace distrun::dist_autograd
