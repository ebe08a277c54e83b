#pragma once
// How an in-place operator records itself.
#include <distrun/runtime/autograd/record.hpp>

namespace distrun::autograd {

// Checks, records and runs an operator that changes `a`. The formula is created before the change; afterwards its
// keep_result(), if it has one, gets the tensor.
template <class MakeFormula, class Operator, class... Others>
Tensor in_place(const Tensor& a, MakeFormula make_formula, Operator run, const Others&... others) {
  check_in_place(a);
  const bool all_are_there = a.defined() && (others.defined() && ...);  // otherwise the operator refuses them
  if (!all_are_there || !tensor::is_floating(a.dtype()) || !needs_gradient(a, others...)) {
    run();
    return a;
  }
  auto node = record(make_formula(), a, others...);
  run();
  if constexpr (requires { node->formula.keep_result(a); }) node->formula.keep_result(a);
  node->add_input(a);
  rebase_history(a, std::move(node));
  return a;
}

// Saves the value of `other` before `a` changes.
inline SavedTensor saved_beside(const Tensor& a, const Tensor& other) {
  return SavedTensor(other.is_same(a) ? former_of(other) : other);
}

}  // namespace distrun::autograd
