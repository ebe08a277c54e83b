#include <distrun/runtime/autograd/node_hooks.hpp>

#include <algorithm>
#include <iterator>

#include <distrun/common/base/error.hpp>

namespace distrun::autograd {
namespace {

HookId next_id() noexcept {
  static constinit std::atomic<std::uint64_t> last{0};
  return HookId{last.fetch_add(1, std::memory_order_relaxed) + 1};
}

TensorList list_of(Gradients gradients) {
  return {std::make_move_iterator(gradients.begin()), std::make_move_iterator(gradients.end())};
}

TensorList copy_of(const Gradients& gradients) { return {gradients.begin(), gradients.end()}; }

// Checks a gradient that a hook returned: it replaces the gradient of the same tensor.
void check_like(const Tensor& returned, const Tensor& got, const char* what) {
  const bool is_like = returned.sizes() == got.sizes() && returned.dtype() == got.dtype() &&
                       returned.layout() == got.layout() && returned.device() == got.device();
  if (is_like) return;
  throw Error(ErrorKind::InvalidArgument,
              std::string("a ") + what + " got a gradient " + describe(got) + " and returned " + describe(returned) +
                  "; it must return one of the same size, dtype, layout and device, or an undefined one");
}

Gradients gradients_of(TensorList list, std::size_t wanted, const char* what) {
  if (list.size() != wanted) {
    throw Error(ErrorKind::InvalidArgument, std::string("a ") + what + " got " + std::to_string(wanted) +
                                                " tensors and returned " + std::to_string(list.size()) +
                                                "; it must return as many");
  }
  Gradients gradients;
  for (Tensor& tensor : list) gradients.push_back(std::move(tensor));
  return gradients;
}

}  // namespace

HookId NodeHooks::add_tensor_hook(std::uint32_t input, TensorHook hook) {
  const std::lock_guard lock(mutex_);
  return of_tensors_.emplace_back(OfTensor{next_id(), input, std::move(hook)}).id;
}

HookId NodeHooks::add_pre_hook(PreHook hook) {
  const std::lock_guard lock(mutex_);
  return before_.emplace_back(Before{next_id(), std::move(hook)}).id;
}

HookId NodeHooks::add_post_hook(PostHook hook) {
  const std::lock_guard lock(mutex_);
  return after_.emplace_back(After{next_id(), std::move(hook)}).id;
}

bool NodeHooks::remove(HookId hook) noexcept {
  const auto is_it = [hook](const auto& entry) { return entry.id == hook; };
  const std::lock_guard lock(mutex_);
  return std::erase_if(of_tensors_, is_it) + std::erase_if(before_, is_it) + std::erase_if(after_, is_it) > 0;
}

bool NodeHooks::has(HookId hook) const noexcept {
  const auto has = [hook](const auto& hooks) {
    return std::any_of(hooks.begin(), hooks.end(), [hook](const auto& entry) { return entry.id == hook; });
  };
  const std::lock_guard lock(mutex_);
  return has(of_tensors_) || has(before_) || has(after_);
}

bool NodeHooks::has_post_hooks() const {
  const std::lock_guard lock(mutex_);
  return !after_.empty();
}

Gradients NodeHooks::before(Gradients gradients) const {
  std::unique_lock lock(mutex_);
  const auto of_tensors = of_tensors_;
  const auto before = before_;
  lock.unlock();
  for (const OfTensor& entry : of_tensors) {
    Tensor& gradient = gradients[entry.input];
    if (!gradient.defined()) continue;
    Tensor changed = entry.hook(gradient);
    if (!changed.defined()) continue;
    check_like(changed, gradient, "tensor hook");
    gradient = std::move(changed);
  }
  const std::size_t count = gradients.size();
  for (const Before& entry : before) {
    gradients = gradients_of(entry.hook(list_of(std::move(gradients))), count, "pre-hook");
  }
  return gradients;
}

Gradients NodeHooks::after(Gradients results, const Gradients& gradients) const {
  std::unique_lock lock(mutex_);
  const auto after = after_;
  lock.unlock();
  const TensorList got = copy_of(gradients);
  const std::size_t count = results.size();
  for (const After& entry : after) {
    results = gradients_of(entry.hook(list_of(std::move(results)), got), count, "post-hook");
  }
  return results;
}

}  // namespace distrun::autograd
