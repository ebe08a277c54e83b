#pragma once
// Tensors that require a gradient, as they get into a message and out of it: whoever writes values notes them, and
// whoever reads values hands them to who makes them a part of the graph here (calls/autograd_service.hpp).
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::rpc {

// For a scope: the tensors that this thread writes and that require a gradient, each once, in the order of writing.
class Departing {
 public:
  Departing() noexcept;
  ~Departing();
  Departing(const Departing&) = delete;
  Departing& operator=(const Departing&) = delete;
  static Departing* current() noexcept;  // null: nobody wants to know

  void note(const Tensor& tensor);
  const TensorList& tensors() const noexcept { return tensors_; }

 private:
  Departing* const before_;
  TensorList tensors_;
};

// Takes the tensors of one message as they are read.
class Arrival {
 public:
  virtual ~Arrival() = default;
  // `carried` is what stands for it among the message's tensors: itself, or the values of a sparse one. May come more
  // than once for one tensor.
  virtual void take(const Tensor& tensor, const Tensor& carried) = 0;
};

// For a scope: what this thread reads has come in that message. Null: nothing of it requires a gradient.
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
