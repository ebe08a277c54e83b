#pragma once
// What one worker knows of a context: which calls of it have been sent from here and received here, with whom, and the
// gradients of its own leaves. A context is a forward pass over several workers and the backward passes over it.

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include <distrun/runtime/autograd/leaf_sink.hpp>
#include <distrun/runtime/dist_autograd/message_nodes.hpp>

namespace distrun::dist_autograd {

// By the identity of leaves, in the order in which they first got one.
class GradientsOfLeaves {
 public:
  using Entry = autograd::GradientMap::Entry;  // leaf, gradient

  explicit GradientsOfLeaves(std::vector<Entry> entries) : entries_(std::move(entries)) {}
  // Undefined: the leaf has none.
  Tensor find(const Tensor& leaf) const;
  // Throws Error{InvalidArgument} for a leaf that has none.
  Tensor at(const Tensor& leaf) const;
  bool contains(const Tensor& leaf) const { return find(leaf).defined(); }
  std::size_t size() const noexcept { return entries_.size(); }
  auto begin() const noexcept { return entries_.begin(); }
  auto end() const noexcept { return entries_.end(); }

 private:
  std::vector<Entry> entries_;
};

// Any thread.
class Context {
 public:
  explicit Context(ContextId id) : id_(id) {}
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  ContextId context_id() const noexcept { return id_; }
  // By the number of their message, which its sender has given it.
  std::map<MessageId, Ref<SendNode>> send_functions() const;
  std::map<MessageId, Ref<RecvNode>> recv_functions() const;
  // Everybody with whom a message of it was exchanged.
  std::set<WorkerId> known_worker_ids() const;
  // Returns whether that worker is one of them. A successor under the same id is not.
  bool knows(WorkerKey worker) const;

  void add_known_worker(WorkerKey worker);
  void add_send(Ref<SendNode> node);
  void add_recv(Ref<RecvNode> node);
  // Its message was not sent.
  void remove_send(MessageId id);
  // Null: there is none.
  Ref<SendNode> find_send(MessageId id) const;
  Ref<RecvNode> find_recv(MessageId id) const;
  // Where graphs begin that gradients go through: at all that was sent, or at these messages, as far as they were.
  std::vector<Ref<Node>> sent() const;
  std::vector<Ref<Node>> sent(const std::vector<MessageId>& messages) const;

  // What passes bring to this worker's leaves: sums over all passes. Whoever is one says so, since it has to be known
  // as long as any is under way which gradients nodes have given to several leaves.
  autograd::GradientMap& gradients() noexcept { return gradients_; }
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
  int passes_ = 0;  // under way
};

}  // namespace distrun::dist_autograd
