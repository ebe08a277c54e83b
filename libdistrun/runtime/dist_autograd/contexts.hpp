#pragma once
// The contexts that a worker knows in one session, its passes over them, and what calls carry for them.
//
// A context is there from its scope, or from the first message of it that comes, until it is released: by whoever has
// opened it, or with him, when he is lost. Ids that were released are remembered (the last kReleasedMax): what belongs
// to one and comes late is no part of any, and does not bring it back.
//
// Releases are calls, which are made again until they are answered, the worker is lost, or the session ends; between
// two tries they rest, up to some seconds (callees.cpp). Whoever hears of one tells whom else he knows of the context.
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

// This worker's part in a backward pass (pass.hpp), as the session knows it.
class PassPart {
 public:
  virtual ~PassPart() = default;
  virtual Context& context() const noexcept = 0;
  virtual void fail(const Error& error) noexcept = 0;
};
using PassPartPtr = std::shared_ptr<PassPart>;

// Any thread.
class Contexts final : public rpc::AutogradService, public std::enable_shared_from_this<Contexts> {
 public:
  // Ids are counted from the first.
  Contexts(const std::shared_ptr<rpc::Calls>& calls, std::int64_t first);
  ~Contexts() override;

  std::shared_ptr<Context> make();
  std::shared_ptr<Context> find(ContextId id) const;  // null: there is none
  // Throws Error{Failed, "RuntimeError"}: "Could not find autograd context with id: 7".
  std::shared_ptr<Context> get(ContextId id, base::Location site) const;
  // False: it is not here, and nobody is told.
  bool release(ContextId id, WorkerId told_by) noexcept;
  // Who has given an id: has opened the context, sent the message, begun the pass.
  static WorkerId giver_of(std::int64_t id) noexcept { return static_cast<WorkerId>(id >> kWorkerBits); }
  // Returns whether that worker has given the id. The worker after `earlier` others counts from first_of(earlier) on.
  static bool is_given_by(std::int64_t id, WorkerKey worker) noexcept;
  static std::int64_t first_of(std::uint64_t earlier) noexcept;
  ContextId max_id() const noexcept { return base_ | kCountMost; }

  // Passes that this worker takes part in. `make_pass` is called if there is none of that id. Throws why it has failed,
  // if it is over.
  PassId next_pass_id() noexcept { return base_ | next_pass_.fetch_add(1); }
  PassPartPtr find_pass(PassId id) const;
  PassPartPtr find_or_add_pass(PassId id, const std::function<PassPartPtr()>& make_pass);
  // `why` of one that has failed.
  void end_pass(PassId id, const std::optional<Error>& why) noexcept;

  // A worker is gone: what it has opened goes, and passes that it may take part in fail.
  void lose(const WorkerInfo& peer, const Error& why) noexcept;
  void close() noexcept;

  struct Counts {
    std::size_t contexts = 0;
    std::size_t passes = 0;
  };
  Counts counts() const;
  // Null: the session is over.
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

  // Null: it was released.
  std::shared_ptr<Context> find_or_add(ContextId id);
  std::vector<PassPartPtr> passes_with(WorkerKey peer) const;

  const std::weak_ptr<rpc::Calls> calls_;
  const WorkerId self_;
  const std::int64_t base_;  // of ids of this worker
  std::atomic<std::int64_t> next_message_, next_pass_;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::int64_t next_context_;
  std::unordered_map<ContextId, std::shared_ptr<Context>> contexts_;
  std::unordered_map<PassId, PassPartPtr> passes_;
  ReleasedIds released_{kReleasedRanges};
  base::Recent<PassId> over_{kOverMax};         // passes
  std::unordered_map<PassId, Error> failures_;  // of those
  bool is_closed_ = false;
};

// Of the calling thread's session; null: there is none.
std::shared_ptr<Contexts> find_contexts() noexcept;
// Throws Error{Failed}: "RPC has not been initialized. ...".
std::shared_ptr<Contexts> current_contexts(base::Location site);

}  // namespace distrun::dist_autograd
