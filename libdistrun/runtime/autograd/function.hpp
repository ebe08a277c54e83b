#pragma once
// Functions with a gradient formula written by users.
//
//   struct Scale {
//     static Tensor forward(FunctionContext& context, const Tensor& x, double factor) {
//       context.data["factor"] = factor;
//       return x * factor;
//     }
//     static TensorList backward(FunctionContext& context, TensorList gradients) {
//       return {gradients[0] * std::get<double>(context.data["factor"])};
//     }
//   };
//   Tensor y = apply<Scale>(x, 2.0);
//
// forward() returns a Tensor or a TensorList; nothing is recorded within it. backward() gets one gradient per result
// and returns one per tensor among forward's arguments (lists flattened), which may be undefined. It runs at most once
// per pass, on any thread that runs the pass, and is not recorded.
#include <map>
#include <string>
#include <typeinfo>
#include <utility>

#include <distrun/runtime/autograd/grad_mode.hpp>
#include <distrun/runtime/autograd/saved_tensor.hpp>
#include <distrun/runtime/tensor/core/value.hpp>

namespace distrun::autograd {

using tensor::IntList;
using tensor::Value;
using tensor::ValueKind;

class FunctionNode;

// Keeps the values of one call from forward() to backward(). Owned by the call's node.
class FunctionContext {
 public:
  // Saves arguments and results of forward(), and nothing else. Replaces what was saved before.
  void save_for_backward(TensorList tensors) { to_save_ = std::move(tensors); }
  // Called in backward(). Throws Error{Failed} if a saved tensor was changed in place, or was released by an earlier
  // pass.
  TensorList saved_tensors() const;

  // Called in forward(). Names arguments that it has changed in place; they must be among its results, otherwise
  // apply() throws Error{InvalidArgument} if one needs a gradient.
  void mark_dirty(TensorList tensors) { dirty_ = std::move(tensors); }
  // Called in forward(). Names results without a gradient.
  void mark_non_differentiable(TensorList tensors) { non_differentiable_ = std::move(tensors); }
  // Called in forward(). If false, backward() gets undefined gradients as they are; otherwise they are replaced by
  // zeros.
  void set_materialize_gradients(bool wanted) noexcept { materializes_ = wanted; }
  // Returns whether backward() must compute the gradient of that tensor argument.
  bool needs_input_gradient(std::size_t argument) const;

  // Holds any other values that backward() needs.
  std::map<std::string, Value> data;

 private:
  friend class FunctionNode;
  friend class FunctionCall;

  const Node* node_ = nullptr;
  TensorList to_save_, dirty_, non_differentiable_;
  std::vector<SavedTensor> saved_;
  bool materializes_ = true;
};

// One call of apply(), without the parts that depend on the function's type.
class FunctionCall {
 public:
  using Backward = TensorList (*)(FunctionContext&, TensorList);  // Function::backward

  // `function` names the node.
  FunctionCall(const std::type_info& function, Backward backward);
  ~FunctionCall();
  FunctionCall(const FunctionCall&) = delete;
  FunctionCall& operator=(const FunctionCall&) = delete;

  // Adds the tensors of an argument; others are ignored.
  template <class Argument>
  void add_argument(const Argument& argument) {
    if constexpr (std::is_convertible_v<const Argument&, Tensor>) {
      inputs_.push_back(argument);
    } else if constexpr (std::is_convertible_v<const Argument&, TensorList>) {
      const TensorList& list = argument;
      inputs_.insert(inputs_.end(), list.begin(), list.end());
    }
  }
  // Returns the context for forward(), which runs between begin() and end().
  FunctionContext& begin();
  // Returns the results of forward() with their position in the graph.
  TensorList end(TensorList results);

 private:
  Tensor finish_result(const Tensor& result);

  Ref<FunctionNode> node_;
  TensorList inputs_;
  bool needs_gradient_ = false;
};

namespace detail {
Tensor run_forward(FunctionCall& call, const std::type_identity<Tensor>&, auto&& forward) {
  return std::move(call.end({forward(call.begin())})[0]);
}
TensorList run_forward(FunctionCall& call, const std::type_identity<TensorList>&, auto&& forward) {
  return call.end(forward(call.begin()));
}
}  // namespace detail

// Calls Function::forward(context, arguments...) without recording, and records the call with Function::backward as its
// formula. Returns what forward() returns. Throws what forward() throws, and Error{InvalidArgument} for saved or marked
// tensors that are not what their functions allow.
template <class Function, class... Arguments>
auto apply(Arguments&&... arguments) {
  FunctionCall call(typeid(Function), &Function::backward);
  (call.add_argument(arguments), ...);
  const auto forward = [&](FunctionContext& context) {
    const NoGradGuard unrecorded;
    return Function::forward(context, arguments...);
  };
  return detail::run_forward(call, std::type_identity<decltype(forward(call.begin()))>(), forward);
}

}  // namespace distrun::autograd

namespace distrun {
using autograd::apply;
using autograd::FunctionContext;
}  // namespace distrun
