#pragma once
// One backward pass over the workers of a context, as one of them takes part in it. The worker that has begun it has
// the roots; gradients go back along the messages of the forward pass, each as a call that its receiver answers:
//
//   RecvNode runs here -- kFeed(message, gradients) --> its sender: feeds the SendNode, and drives its own part
//
// The first call that reaches a worker is answered when all is done there, and all that it has called has answered; the
// others at once. So the calls that are waited for are a tree, and when the root has its answers, the pass is over.
//
// A part can only end if it knows which of its SendNodes will be fed. In FAST these are all of the context: one whose
// result nobody has used keeps it waiting for ever. In SMART they are found out before gradients are sent:
//
//   1. From the roots it is seen which RecvNodes the pass comes to: their messages are live. kMark tells their senders,
//      each of whom looks on from the SendNodes that he had not marked yet, and answers when those whom he has told
//      have answered. A message is marked once, so it ends; with the answers at the root all live messages are marked,
//      since every one that the pass can come to is reached from a marked one or a root. It takes one call for each
//      pair of workers and step of depth, at most one for each live message.
//   2. Gradients are sent. Each part expects its live SendNodes, and no other.
//
//   Results are those of one worker that has computed it all: a node waits for exactly those gradients that come, as
//   there. With all sends live the parts are those of FAST.
//
// The first step is left out where the beginner knows its outcome. An answer says which messages of the context it
// depends on, if few nodes lead to them. If all these were sent by the beginner, then only he feeds those who have
// answered him, and he tells them with the gradients which messages are live (kToldMost at most).
//
// An error in a part fails the part, which tells all whom its worker knows of the context (kAbort), and so do they: no
// part waits for what will not come. A worker that is lost fails the parts of those who know it.
//
// A part is prepared (expect()) and then started by the first feed(); that is done with its mutex. Any thread.

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

  // The part keeps itself until it is over.
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
  using Live = std::map<WorkerId, std::vector<MessageId>>;  // by who has sent them
  // These SendNodes will be fed. What is live because of them, and of the roots, and was not told before. Throws
  // Error{Failed} for a message that was not sent from here, and for what another context's has computed.
  Live expect(const std::vector<MessageId>& messages);
  // All of the context; whoever comes to the part together with others waits until that is done.
  void expect_all();
  // Of the beginner, after expect({}): adds to it what answers say is live because of it, and expects its own. False:
  // answers do not say so much, and it has to be asked for.
  bool complete(Live& live);
  // Asks for it: done when all that is live is marked.
  future::Future<rpc::Value> mark(Live live);
  // What those whom it feeds are told with the gradients.
  void tell_with_gradients(Live live) { told_ = std::move(live); }

  // ---- from here on

  // Its roots; runs what it can on this thread. Of errors it says on which worker they were thrown, this one too.
  void begin();
  // On another thread.
  void drive_soon() noexcept;
  // Gradients of a message that was sent from here, by their places in it; runs what it can on this thread. Throws
  // Error{Failed} for a message that takes no part, Error{InvalidArgument} for gradients that are not those of it.
  void feed(MessageId message, std::vector<Tensor> gradients);
  // Whether gradients may be fed, and what is ready run, by whoever has read them: all that the part runs is quick. The
  // messages are those that will be fed, of a part in SMART that expects none yet; once it is known, it stays so.
  bool is_quick(const std::vector<MessageId>& messages);
  // Whoever comes first is answered with done(), others at once.
  bool is_first() noexcept { return !was_reached_.exchange(true); }
  // All is done here, and all who were called have answered; or it has failed.
  const future::Future<rpc::Value>& done() const noexcept { return done_; }
  void fail(const Error& error) noexcept override;

  // The calling thread's streams come after the gradients of this worker's leaves.
  void wait_for_leaves() const { task_->wait_for_leaves(); }

  // By RecvNode, on a thread of the pass.
  static Pass* current() noexcept;
  void send(const RecvNode& node, Gradients gradients);
  // What it waits for, for people: "gradients from worker 1 of my_add() at f.cpp:12". Empty: nothing.
  std::string missing() const;

 private:
  class Answered;

  void start();                                                // with mutex_
  bool look_if_quick(const std::vector<MessageId>& messages);  // so, too
  void drive();
  void end_task() noexcept;
  void end_sent(WorkerId to, const std::exception_ptr& error) noexcept;
  // If all is done, or it has failed and nothing of it runs here any more.
  void end_if_over() noexcept;
  void keep_error(const Error& error, bool is_own) noexcept;
  void tell_failure(const Error& error) noexcept;
  void show_waiting() noexcept;
  void hide_waiting() noexcept;
  // The SendNodes of this worker that what has come by these depends on. False: it is not known, or others' too.
  bool add_origins(const std::vector<MessageId>& messages, std::vector<MessageId>& own) const;
  Live live_of(const std::vector<Node*>& ends);  // with mutex_
  rpc::ValueList head() const;                   // of the arguments of all that is called for it

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
  std::atomic<int> sent_{0};           // calls that are not answered
  std::atomic<bool> has_sent_{false};  // anything
  std::atomic<bool> is_task_done_{false}, has_failed_{false}, is_over_{false};
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::shared_ptr<Pass> self_;  // until it is over: what runs and who answers come to it
  bool is_started_ = false;
  std::optional<bool> is_quick_;
  std::vector<Ref<Node>> roots_;
  std::map<MessageId, Ref<SendNode>> expected_;  // not fed yet
  std::set<MessageId> marked_;
  std::set<RecvNode::Origin> live_;  // that were told
  std::optional<Error> error_;       // the first
  bool is_own_error_ = false;        // it was thrown here
  int shown_ = -1;                   // the wait on the rank's board
};

}  // namespace distrun::dist_autograd
