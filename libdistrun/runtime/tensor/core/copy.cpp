#include <distrun/runtime/tensor/core/copy.hpp>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/device/stream.hpp>
#include <distrun/runtime/tensor/core/called_operator.hpp>
#include <distrun/runtime/tensor/core/empty.hpp>
#include <distrun/runtime/tensor/core/pointwise.hpp>
#include <distrun/runtime/tensor/core/shape.hpp>
#include <distrun/runtime/tensor/core/sparse_parts.hpp>
#include <distrun/runtime/tensor/core/views.hpp>

namespace distrun::tensor::plain {
namespace {

std::size_t bytes_of(const Tensor& tensor) {
  return static_cast<std::size_t>(tensor.numel()) * size_of(tensor.dtype());
}

bool is_one_block(const Tensor& out, const Tensor& from) {
  return out.is_contiguous() && from.is_contiguous() && out.sizes() == from.sizes() && out.dtype() == from.dtype();
}

void copy_on_device(const Tensor& out, const Tensor& given) {
  const Tensor from = apart(given, out);
  if (out.device().is_cpu() || !is_one_block(out, from)) {
    return pointwise(copy_kernel(from.dtype(), out.dtype()), out, from, Constant());
  }
  if (out.data() == from.data()) return;  // CUDA does not copy bytes onto themselves either
  const Stream stream = device::current_stream(out.device());
  stream.driver().copy(stream.ref(), out.data(), from.data(), bytes_of(out), {});
}

// Copies a contiguous tensor to another GPU on the source's stream. The copy waits for the work submitted to both
// streams so far, and later work on either stream sees its result.
void copy_between_gpus(const Tensor& out, const Tensor& from) {
  const Stream source = device::current_stream(from.device());
  const Stream target = device::current_stream(out.device());
  device::Event is_ready, is_copied;
  is_ready.record(target);
  is_ready.block(source);
  source.driver().copy(source.ref(), out.data(), from.data(), bytes_of(out), {});
  is_copied.record(source);
  is_copied.block(target);
}

// Keeps the host memory alive until a non_blocking copy is done.
void copy_to_or_from_host(const Tensor& out, const Tensor& from, bool non_blocking) {
  const Tensor& here = out.device().is_cpu() ? out : from;
  const Stream stream = device::current_stream((out.device().is_cpu() ? from : out).device());
  stream.driver().copy(stream.ref(), out.data(), from.data(), bytes_of(out), {});
  if (non_blocking) {
    stream.driver().call_host(stream.ref(), [keep = here.strided().storage()] {});
  } else {
    stream.synchronize();
  }
}

// Converts on the source's device, so that only the bytes of the output's dtype travel; scatters on the output's
// device.
void copy_across(const Tensor& out, const Tensor& from, bool non_blocking) {
  const Tensor packed = contiguous(expand(to(from, out.dtype()), out.sizes()));
  const Tensor target = out.is_contiguous() ? out : empty(out.sizes(), out.options());
  if (!out.device().is_cpu() && !from.device().is_cpu()) {
    copy_between_gpus(target, packed);
  } else {
    copy_to_or_from_host(target, packed, non_blocking && target.is_same(out));
  }
  if (!target.is_same(out)) copy_on_device(out, target);
}

void set_elements(const Tensor& out, const Tensor& from, bool non_blocking) {
  if (out.numel() == 0) return;
  if (out.device() == from.device()) {
    copy_on_device(out, from);
  } else {
    copy_across(out, from, non_blocking);
  }
}

template <class Change>
Tensor of_parts(const Tensor& tensor, Change change) {
  const SparseParts& parts = sparse(tensor);
  const auto [indices, values] = change(parts.indices, parts.values);
  return sparse_coo_unchecked(indices, values, tensor.sizes(), parts.coalesced);
}

}  // namespace

Tensor clone(const Tensor& tensor) {
  check_defined("clone", {&tensor});
  if (tensor.is_sparse()) {
    return of_parts(
        tensor, [](const Tensor& indices, const Tensor& values) { return std::pair(clone(indices), clone(values)); });
  }
  Tensor out = empty_like(tensor);
  set_elements(out, tensor, false);
  return out;
}

Tensor contiguous(const Tensor& tensor) { return tensor.is_contiguous() ? tensor : clone(tensor); }

Tensor to(const Tensor& tensor, TensorOptions options, bool non_blocking) {
  check_defined("to", {&tensor});
  if (tensor.dtype() == options.dtype && tensor.device() == options.device) return tensor;
  if (tensor.is_sparse()) {
    return of_parts(tensor, [options, non_blocking](const Tensor& indices, const Tensor& values) {
      return std::pair(to(indices, options.device, non_blocking), to(values, options, non_blocking));
    });
  }
  Tensor out = empty(tensor.sizes(), options);
  set_elements(out, tensor, non_blocking);
  return out;
}
Tensor to(const Tensor& tensor, DType dtype) {
  check_defined("to", {&tensor});
  return to(tensor, TensorOptions{dtype, tensor.device()});
}
Tensor to(const Tensor& tensor, Device device, bool non_blocking) {
  check_defined("to", {&tensor});
  return to(tensor, TensorOptions{tensor.dtype(), device}, non_blocking);
}

void copy_(const Tensor& out, const Tensor& from, bool non_blocking) {
  check_defined("copy_", {&out, &from});
  check_dense("copy_", {&out, &from});
  if (!is_expandable(from.sizes(), out.sizes()))
    refuse("copy_", "the source cannot be expanded to the output", {&out, &from});
  check_writable("copy_", out);
  set_elements(out, from, non_blocking);
  out.bump_version();
}

}  // namespace distrun::tensor::plain

namespace distrun::tensor {

Tensor apart(const Tensor& input, const Tensor& out) {
  const StridedImpl& from = input.strided();
  const StridedImpl& to = out.strided();
  if (!(from.storage() == to.storage())) return input;
  const bool is_same_walk = from.data == to.data && from.sizes == to.sizes && from.strides == to.strides;
  if (is_same_walk || from.numel == 0 || to.numel == 0) return input;
  // Compares in bytes, since dtypes may differ.
  const auto reach_in_bytes = [](const StridedImpl& tensor) {
    device::Reach reach = device::reach_of(tensor.sizes, tensor.strides, tensor.offset);
    const auto bytes = static_cast<std::int64_t>(size_of(tensor.dtype));
    return device::Reach{reach.first * bytes, reach.last * bytes + bytes - 1, true};
  };
  const device::Reach a = reach_in_bytes(from), b = reach_in_bytes(to);
  return a.last < b.first || b.last < a.first ? input : clone(input);
}

Scalar Tensor::item() const {
  const CalledOperator called("item");
  const StridedImpl& impl = strided();
  if (impl.numel != 1) {
    refuse("item", "a tensor with " + std::to_string(impl.numel) + " elements cannot be converted to a scalar", {this});
  }
  const Tensor here = plain::to(*this, device::kCpu);
  return visit(impl.dtype, [&here](auto zero) { return Scalar(*here.data_as<decltype(zero)>()); });
}

}  // namespace distrun::tensor
