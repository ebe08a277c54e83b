#pragma once
// A tensor that a formula keeps for the backward pass. It remembers the tensor's version, so that computing a gradient
// from values that have changed meanwhile is an error and not a wrong number.
#include <optional>

#include <distrun/runtime/autograd/node.hpp>

namespace distrun::autograd {

class SavedTensor {
 public:
  SavedTensor() noexcept = default;
  explicit SavedTensor(const Tensor& tensor);
  // Saves result number `output` of the node that keeps it: keeps the bytes, not the tensor, which holds the node.
  static SavedTensor of_result(const Tensor& result, std::uint32_t output = 0);

  // Returns the tensor with its history, so that operators on it can be recorded; undefined if an undefined one was
  // saved. Throws Error{Failed} if it was released, or changed in place since. `owner` is the node that keeps it.
  Tensor unpack(const Node& owner) const;
  // Requires Node::KeptLock.
  void release() noexcept {
    is_released_ = is_released_ || tensor_.defined();
    tensor_ = Tensor();
  }

 private:
  Tensor peek(const Node& owner) const;

  Tensor tensor_;
  std::uint32_t version_ = 0;
  std::optional<std::uint32_t> output_;
  bool is_released_ = false;
};

// Throws the error of a second pass over a released graph.
[[noreturn]] void throw_released(const Node& owner);

}  // namespace distrun::autograd
