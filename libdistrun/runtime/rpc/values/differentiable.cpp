#include <distrun/runtime/rpc/values/differentiable.hpp>

#include <algorithm>
#include <utility>

#include <distrun/runtime/autograd/history.hpp>

namespace distrun::rpc {
namespace {

thread_local Departing* departing = nullptr;
thread_local Arrival* arriving = nullptr;

}  // namespace

Departing::Departing() noexcept : before_(std::exchange(departing, this)) {}
Departing::~Departing() { departing = before_; }
Departing* Departing::current() noexcept { return departing; }

void Departing::note(const Tensor& tensor) {
  if (!autograd::requires_grad(tensor)) return;
  const auto is_it = [&](const Tensor& each) { return each.is_same(tensor); };
  if (std::none_of(tensors_.begin(), tensors_.end(), is_it)) tensors_.push_back(tensor);
}

Arriving::Arriving(Arrival* arrival) noexcept : before_(std::exchange(arriving, arrival)) {}
Arriving::~Arriving() { arriving = before_; }
Arrival* Arriving::current() noexcept { return arriving; }

}  // namespace distrun::rpc
