#pragma once
// Tracks tensors that require a gradient in messages: the writer of values records them, and the reader passes them to
// the code that adds them to the local autograd graph (calls/autograd_service.hpp).
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::rpc {

// Records, within a scope, the tensors that this thread writes and that require a gradient: each once, in order.
class Departing {
 public:
  Departing() noexcept;
  ~Departing();
  Departing(const Departing&) = delete;
  Departing& operator=(const Departing&) = delete;
  static Departing* current() noexcept;  // null: not recorded

  void note(const Tensor& tensor);
  const TensorList& tensors() const noexcept { return tensors_; }

 private:
  Departing* const before_;
  TensorList tensors_;
};

// Receives the tensors of one message as they are read.
class Arrival {
 public:
  virtual ~Arrival() = default;
  // `carried`: the tensor in the message, itself or the values of a sparse one. May be called repeatedly for a tensor.
  virtual void take(const Tensor& tensor, const Tensor& carried) = 0;
};

// Sets, within a scope, the message that this thread reads. Null: nothing in the message requires a gradient.
class Arriving {
 public:
  explicit Arriving(Arrival* arrival) noexcept;
  ~Arriving();
  Arriving(const Arriving&) = delete;
  Arriving& operator=(const Arriving&) = delete;
  static Arrival* current() noexcept;

 private:
  Arrival* const before_;
};

}  // namespace distrun::rpc
