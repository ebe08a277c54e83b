#include <distrun/runtime/dist_autograd/context.hpp>

#include <algorithm>

#include <distrun/common/base/error.hpp>

namespace distrun::dist_autograd {

Tensor GradientsOfLeaves::find(const Tensor& leaf) const {
  const auto found =
      std::find_if(entries_.begin(), entries_.end(), [&](const Entry& each) { return each.leaf.is_same(leaf); });
  return found == entries_.end() ? Tensor() : found->gradient;
}

Tensor GradientsOfLeaves::at(const Tensor& leaf) const {
  Tensor gradient = find(leaf);
  if (gradient.defined()) return gradient;
  throw Error(ErrorKind::InvalidArgument, "KeyError",
              "there is no gradient of that leaf: it is another tensor, or no root of a backward pass of the context "
              "depends on it");
}

std::map<MessageId, Ref<SendNode>> Context::send_functions() const {
  const std::lock_guard lock(mutex_);
  return sends_;
}

std::map<MessageId, Ref<RecvNode>> Context::recv_functions() const {
  const std::lock_guard lock(mutex_);
  return recvs_;
}

std::set<WorkerId> Context::known_worker_ids() const {
  std::set<WorkerId> ids;
  const std::lock_guard lock(mutex_);
  for (const WorkerKey& each : known_workers_) ids.insert(each.id);
  return ids;
}

bool Context::knows(WorkerKey worker) const {
  const std::lock_guard lock(mutex_);
  return std::any_of(known_workers_.begin(), known_workers_.end(),
                     [&](const WorkerKey& each) { return each.matches(worker); });
}

void Context::add_known_worker(WorkerKey worker) {
  const std::lock_guard lock(mutex_);
  known_workers_.insert(worker);
}

void Context::add_send(Ref<SendNode> node) {
  const std::lock_guard lock(mutex_);
  const MessageId message = node->message;
  sends_.insert_or_assign(message, std::move(node));
}

void Context::add_recv(Ref<RecvNode> node) {
  const std::lock_guard lock(mutex_);
  const MessageId message = node->message;
  recvs_.insert_or_assign(message, std::move(node));
}

void Context::remove_send(MessageId id) {
  Ref<SendNode> gone;  // destroyed without the lock
  const std::lock_guard lock(mutex_);
  const auto found = sends_.find(id);
  if (found == sends_.end()) return;
  gone = std::move(found->second);
  sends_.erase(found);
}

Ref<SendNode> Context::find_send(MessageId id) const {
  const std::lock_guard lock(mutex_);
  const auto found = sends_.find(id);
  return found == sends_.end() ? Ref<SendNode>() : found->second;
}

Ref<RecvNode> Context::find_recv(MessageId id) const {
  const std::lock_guard lock(mutex_);
  const auto found = recvs_.find(id);
  return found == recvs_.end() ? Ref<RecvNode>() : found->second;
}

std::vector<Ref<Node>> Context::sent() const {
  std::vector<Ref<Node>> nodes;
  const std::lock_guard lock(mutex_);
  for (const auto& [message, node] : sends_) nodes.push_back(node);
  return nodes;
}

std::vector<Ref<Node>> Context::sent(const std::vector<MessageId>& messages) const {
  std::vector<Ref<Node>> nodes;
  for (const MessageId each : messages) {
    if (auto node = find_send(each)) nodes.push_back(std::move(node));
  }
  return nodes;
}

void Context::begin_pass() {
  const std::lock_guard lock(mutex_);
  ++passes_;
}

void Context::end_pass() {
  const std::lock_guard lock(mutex_);
  if (--passes_ == 0) gradients_.end_pass();
}

}  // namespace distrun::dist_autograd
