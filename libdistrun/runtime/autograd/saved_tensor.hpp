#pragma once
// A tensor that a formula keeps for the backward pass. It remembers the version that it was kept in, so that a gradient
// from values that have changed meanwhile is an error and not a wrong number.
#include <optional>

#include <distrun/runtime/autograd/node.hpp>

namespace distrun::autograd {

class SavedTensor {
 public:
  SavedTensor() noexcept = default;
  explicit SavedTensor(const Tensor& tensor);
  // Result number `output` of the node that keeps it: its bytes are kept, not the tensor, which has the node.
  static SavedTensor of_result(const Tensor& result, std::uint32_t output = 0);

  // With its history, for what is recorded of it. Undefined if an undefined one was saved. Throws Error{Failed} if it
  // was released, or changed in place since then. `owner` is the node that keeps it.
  Tensor unpack(const Node& owner) const;
  // With Node::KeptLock.
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

// What a second pass over a released graph is told.
[[noreturn]] void throw_released(const Node& owner);

}  // namespace distrun::autograd
