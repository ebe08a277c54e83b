#include <distrun/runtime/autograd/node.hpp>

#include <sched.h>

#include <limits>

#include <distrun/runtime/autograd/node_hooks.hpp>

namespace distrun::autograd {
namespace {

struct ThreadCount {
  std::uint64_t sequence = 0;
  std::uint32_t thread = 0;  // 0: no number yet
};
constinit thread_local ThreadCount thread_count;
constinit std::atomic<std::uint32_t> threads{0};

std::uint32_t thread_number() noexcept {
  if (thread_count.thread == 0) thread_count.thread = threads.fetch_add(1, std::memory_order_relaxed) + 1;
  return thread_count.thread;
}

// Nodes that this thread is about to delete.
struct Released {
  Node* first = nullptr;
  bool is_deleting = false;
};
constinit thread_local Released released;

}  // namespace

void Node::KeptLock::wait() noexcept { ::sched_yield(); }

Node::Node() noexcept : is_leaf_(false), thread_(thread_number()), sequence_(thread_count.sequence++) {}

Node::Node(Leaf) noexcept
    : is_leaf_(true), thread_(thread_number()), sequence_(std::numeric_limits<std::uint64_t>::max()) {}

Node::~Node() { delete hooks_.load(std::memory_order_acquire); }

std::uint64_t Node::next_sequence() noexcept { return thread_count.sequence; }

std::uint32_t Node::add_input(const Tensor& like) {
  const Device device = like.device();
  const Stream stream = device.is_cpu() ? Stream() : device::current_stream(device);
  inputs_.push_back({like.sizes(), like.dtype(), like.layout(), device, stream});
  return static_cast<std::uint32_t>(inputs_.size() - 1);
}

// Deleting a chain of a million nodes must not recurse a million frames deep: nodes that a deletion releases are put on
// a list, and the outermost call deletes them. This covers nodes that are held by an edge and those held by a tensor.
void Node::let_go() noexcept {
  next_released_ = released.first;
  released.first = this;
  if (released.is_deleting) return;
  released.is_deleting = true;
  while (released.first != nullptr) {
    Node* const node = released.first;
    released.first = node->next_released_;
    delete node;
  }
  released.is_deleting = false;
}

NodeHooks& Node::make_hooks() {
  NodeHooks* hooks = hooks_.load(std::memory_order_acquire);
  if (hooks != nullptr) return *hooks;
  auto made = std::make_unique<NodeHooks>();
  if (hooks_.compare_exchange_strong(hooks, made.get(), std::memory_order_acq_rel)) hooks = made.release();
  return *hooks;
}

HookId Node::add_tensor_hook(std::uint32_t input, TensorHook hook) {
  return make_hooks().add_tensor_hook(input, std::move(hook));
}
HookId Node::add_pre_hook(PreHook hook) { return make_hooks().add_pre_hook(std::move(hook)); }
HookId Node::add_post_hook(PostHook hook) { return make_hooks().add_post_hook(std::move(hook)); }
void Node::remove_hook(HookId hook) noexcept {
  if (NodeHooks* const hooks = hooks_.load(std::memory_order_acquire)) hooks->remove(hook);
}

void Node::set_forward_site(ForwardSite site) { forward_site_ = std::make_unique<const ForwardSite>(std::move(site)); }

}  // namespace distrun::autograd
