#pragma once
// One worker's part in a backward pass over the workers of a context. The worker that begins the pass has the roots;
// gradients go back along the messages of the forward pass, each as a call that its receiver answers:
//
//   RecvNode runs here -- kFeed(message, gradients) --> its sender: feeds the SendNode, and drives its part
//
// The first call that reaches a worker is answered when all work there is done and all its calls are answered; the
// others at once. So the calls that are waited for form a tree, and the pass is over when the root has its answers.
//
// A part can end only if it knows which of its SendNodes will be fed. In FAST these are all of the context: one with an
// unused result blocks it forever. In SMART they are determined before gradients are sent:
//
//   1. The roots show which RecvNodes the pass reaches: their messages are live. kMark notifies the senders. Each
//      continues from the SendNodes that it had not marked yet, and answers when the workers that it notified have
//      answered. A message is marked once, so this ends; after the answers at the root all live messages are marked,
//      since every reachable one is reached from a marked one or a root. It takes one call for each pair of workers and
//      step of depth, at most one for each live message.
//   2. Gradients are sent. Each part expects its live SendNodes, and no other.
//
//   Results are those of one worker that computes everything: a node waits for exactly the gradients that come, as
//   there. With all sends live the parts are those of FAST.
//
// The first step is omitted if the beginner knows its outcome. An answer lists the messages of the context that it
// depends on, if few nodes lead to them. If the beginner sent all these, only it feeds the workers that answered, and
// it sends them the list of live messages with the gradients (kToldMost at most).
//
// An error in a part fails the part, which notifies all workers that it knows of the context (kAbort), and so do they:
// no part waits for gradients that will not come. The loss of a worker fails the parts of those that know it.
//
// A part is prepared (expect()) and then started by the first feed(), with its mutex held. Thread-safe.

#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include <distrun/runtime/autograd/graph_task.hpp>
#include <distrun/runtime/dist_autograd/contexts.hpp>
#include <distrun/runtime/dist_autograd/protocol.hpp>
#include <distrun/runtime/future/future.hpp>

namespace distrun::dist_autograd {

class Pass final : public PassPart, public std::enable_shared_from_this<Pass> {
 public:
  static constexpr std::size_t kToldMost = 16;

  // The part keeps itself alive until it is over.
  static std::shared_ptr<Pass> make(std::shared_ptr<Contexts> contexts, std::shared_ptr<Context> context, PassId id,
                                    PassSettings settings);
  Pass(std::shared_ptr<Contexts> contexts, std::shared_ptr<Context> context, PassId id, PassSettings settings);
  Pass(const Pass&) = delete;
  Pass& operator=(const Pass&) = delete;

  PassId id() const noexcept { return id_; }
  Context& context() const noexcept override { return *context_; }
  const PassSettings& settings() const noexcept { return settings_; }

  // ---- before it is started

  void add_root(autograd::Edge edge, Tensor gradient);
  using Live = std::map<WorkerId, std::vector<MessageId>>;  // by sender
  // Marks these SendNodes as going to be fed. Returns the messages that are live because of them and the roots, and
  // were not returned before. Throws Error{Failed} for a message that was not sent from here, and for one computed by
  // another context.
  Live expect(const std::vector<MessageId>& messages);
  // Expects all of the context; concurrent callers wait until that is done.
  void expect_all();
  // Called by the beginner after expect({}): adds the messages that are live according to answers, and expects its own.
  // Returns false if answers don't say enough, and the other workers must be asked.
  bool complete(Live& live);
  // Asks the other workers: done when all live messages are marked.
  future::Future<rpc::Value> mark(Live live);
  // Sets the live messages that are sent to the fed workers with the gradients.
  void tell_with_gradients(Live live) { told_ = std::move(live); }

  // ---- after that

  // Starts with its roots; runs all it can on this thread. Errors name the worker that threw them, this one included.
  void begin();
  // Drives on another thread.
  void drive_soon() noexcept;
  // Feeds the gradients of a message that was sent from here, by their positions in it; runs all it can on this thread.
  // Throws Error{Failed} for a message that takes no part, Error{InvalidArgument} for gradients that don't fit.
  void feed(MessageId message, std::vector<Tensor> gradients);
  // Returns whether the thread that read gradients may feed them and run what is ready: all nodes of the part are
  // quick. `messages` will be fed, for a part in SMART that expects none yet; the answer never changes.
  bool is_quick(const std::vector<MessageId>& messages);
  // Returns true for the first caller, which is answered with done(); others are answered at once.
  bool is_first() noexcept { return !was_reached_.exchange(true); }
  // Done when all work here is done and all calls are answered, or the part has failed.
  const future::Future<rpc::Value>& done() const noexcept { return done_; }
  void fail(const Error& error) noexcept override;

  // Orders the calling thread's streams after the gradients of this worker's leaves.
  void wait_for_leaves() const { task_->wait_for_leaves(); }

  // Used by RecvNode, on a thread of the pass.
  static Pass* current() noexcept;
  void send(const RecvNode& node, Gradients gradients);
  // Returns what it waits for, for reports: "gradients from worker 1 of my_add() at f.cpp:12". Empty: nothing.
  std::string missing() const;

 private:
  class Answered;

  void start();                                                // with mutex_
  bool look_if_quick(const std::vector<MessageId>& messages);  // with mutex_
  void drive();
  void end_task() noexcept;
  void end_sent(WorkerId to, const std::exception_ptr& error) noexcept;
  // Ends the part if all is done, or if it has failed and none of its nodes run here any more.
  void end_if_over() noexcept;
  void keep_error(const Error& error, bool is_own) noexcept;
  void tell_failure(const Error& error) noexcept;
  void show_waiting() noexcept;
  void hide_waiting() noexcept;
  // Adds this worker's SendNodes that the messages' results depend on. Returns false if unknown, or if others' nodes
  // are involved, too.
  bool add_origins(const std::vector<MessageId>& messages, std::vector<MessageId>& own) const;
  Live live_of(const std::vector<Node*>& ends);  // with mutex_
  rpc::ValueList head() const;                   // first arguments of all its calls

  const std::shared_ptr<Contexts> contexts_;
  const std::shared_ptr<Context> context_;
  const PassId id_;
  const PassSettings settings_;
  core::RankState& rank_;
  const Ref<autograd::GraphTask> task_;
  const future::Future<rpc::Value> done_;
  Live told_;
  std::once_flag all_expected_;
  std::atomic<bool> was_reached_{false};
  std::atomic<int> sent_{0};           // unanswered calls
  std::atomic<bool> has_sent_{false};  // any calls
  std::atomic<bool> is_task_done_{false}, has_failed_{false}, is_over_{false};
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::shared_ptr<Pass> self_;  // until it is over: running nodes and answers refer to it
  bool is_started_ = false;
  std::optional<bool> is_quick_;
  std::vector<Ref<Node>> roots_;
  std::map<MessageId, Ref<SendNode>> expected_;  // not yet fed
  std::set<MessageId> marked_;
  std::set<RecvNode::Origin> live_;  // already returned
  std::optional<Error> error_;       // the first
  bool is_own_error_ = false;        // it was thrown here
  int shown_ = -1;                   // the wait on the rank's board
};

}  // namespace distrun::dist_autograd
