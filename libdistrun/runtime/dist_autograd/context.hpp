#pragma once
// One worker's part of a context: the calls that were sent and received here, the workers involved, and the gradients
// of this worker's leaves. A context is a forward pass over several workers and the backward passes over it.

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include <distrun/runtime/autograd/leaf_sink.hpp>
#include <distrun/runtime/dist_autograd/message_nodes.hpp>

namespace distrun::dist_autograd {

// Gradients by the identity of leaves, in the order in which the leaves first got one.
class GradientsOfLeaves {
 public:
  using Entry = autograd::GradientMap::Entry;  // leaf, gradient

  explicit GradientsOfLeaves(std::vector<Entry> entries) : entries_(std::move(entries)) {}  // one entry for each leaf
  // Returns an undefined tensor if the leaf has no gradient.
  Tensor find(const Tensor& leaf) const;
  // Throws Error{InvalidArgument} if the leaf has no gradient.
  Tensor at(const Tensor& leaf) const;
  bool contains(const Tensor& leaf) const { return find(leaf).defined(); }  // has a gradient
  std::size_t size() const noexcept { return entries_.size(); }             // leaves with a gradient
  auto begin() const noexcept { return entries_.begin(); }                  // of the entries
  auto end() const noexcept { return entries_.end(); }                      // of the entries

 private:
  std::vector<Entry> entries_;
};

// Thread-safe. Users get it from retrieve_context(); changes are made by calls and passes.
class Context {
 public:
  explicit Context(ContextId id) : id_(id) {}  // without messages and gradients
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  ContextId context_id() const noexcept { return id_; }  // the same on all workers
  // Returns the nodes of the messages that were sent here, by the number that the sender has assigned.
  std::map<MessageId, Ref<SendNode>> send_functions() const;
  // Returns the nodes of the messages that were received here.
  std::map<MessageId, Ref<RecvNode>> recv_functions() const;
  // Returns all workers that have exchanged a message of the context with this one.
  std::set<WorkerId> known_worker_ids() const;
  // Returns whether that worker is one of them. A successor under the same id is not.
  bool knows(WorkerKey worker) const;

  // These record a worker or a message; called for each call with tensors.
  void add_known_worker(WorkerKey worker);
  void add_send(Ref<SendNode> node);
  void add_recv(Ref<RecvNode> node);
  // Called if the message was not sent.
  void remove_send(MessageId id);
  // These return null if not found.
  Ref<SendNode> find_send(MessageId id) const;
  Ref<RecvNode> find_recv(MessageId id) const;
  // Return the nodes where graphs begin: those of all sent messages, or of those of `messages` that were sent.
  std::vector<Ref<Node>> sent() const;
  std::vector<Ref<Node>> sent(const std::vector<MessageId>& messages) const;

  // The gradients of this worker's leaves, summed over all passes. Call begin_pass() and end_pass() around each: while
  // a pass runs, gradients shared by several leaves must be remembered.
  autograd::GradientMap& gradients() noexcept { return gradients_; }
  // These mark the begin and the end of a pass that adds to gradients().
  void begin_pass();
  void end_pass();

 private:
  const ContextId id_;
  autograd::GradientMap gradients_;

  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::map<MessageId, Ref<SendNode>> sends_;
  std::map<MessageId, Ref<RecvNode>> recvs_;
  std::set<WorkerKey> known_workers_;
  int passes_ = 0;  // running
};

}  // namespace distrun::dist_autograd
