#include <distrun/runtime/autograd/operators/copies.hpp>

#include <distrun/runtime/autograd/record.hpp>
#include <distrun/runtime/autograd/scope.hpp>
#include <distrun/runtime/tensor/core/copy.hpp>

namespace distrun {
namespace {

using namespace autograd;

// The gradient of a copy is that of the original; its dtype and device are converted on delivery.
struct CopyBackward {
  const char* kind;
  const char* name() const { return kind; }
  Gradients apply(const Node&, Gradients gradients) { return gradients; }
};

Tensor recorded(Tensor result, const Tensor& of, const char* kind) {
  if (result.is_same(of) || !needs_gradient(of)) return result;
  return with_history(std::move(result), record(CopyBackward{kind}, of));
}

}  // namespace

Tensor clone(const Tensor& tensor) {
  const OperatorScope scope("clone", tensor);
  return recorded(tensor::clone(tensor), tensor, "CloneBackward0");
}

Tensor contiguous(const Tensor& tensor) {
  const OperatorScope scope("contiguous", tensor);
  return recorded(tensor::contiguous(tensor), tensor, "CloneBackward0");
}

Tensor to(const Tensor& tensor, DType dtype) {
  const OperatorScope scope("to", tensor);
  return recorded(tensor::to(tensor, dtype), tensor, "ToCopyBackward0");
}

Tensor to(const Tensor& tensor, Device device, bool non_blocking) {
  const OperatorScope scope("to", tensor);
  return recorded(tensor::to(tensor, device, non_blocking), tensor, "ToCopyBackward0");
}

Tensor to(const Tensor& tensor, const TensorOptions& options, bool non_blocking) {
  const tensor::CalledOperator called("to");
  return distrun::to(distrun::to(tensor, options.dtype), options.device, non_blocking);
}

Tensor cpu(const Tensor& tensor) {
  const tensor::CalledOperator called("cpu");
  return distrun::to(tensor, device::kCpu);
}
Tensor cuda(const Tensor& tensor) {
  const tensor::CalledOperator called("cuda");
  return distrun::to(tensor, device::cuda(device::current_device()));
}

}  // namespace distrun
