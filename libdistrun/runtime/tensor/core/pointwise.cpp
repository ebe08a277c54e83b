#include <distrun/runtime/tensor/core/pointwise.hpp>

#include <distrun/runtime/tensor/core/launch.hpp>
#include <distrun/runtime/tensor/core/shape.hpp>
#include <distrun/runtime/tensor/core/walk.hpp>
#include <distrun/runtime/tensor/kernels/instruction_set.hpp>

namespace distrun::tensor {
namespace {

using device::Access;

std::byte* address_of(const Constant& constant) {
  return const_cast<std::byte*>(static_cast<const std::byte*>(constant.address()));  // inputs are only read
}

// Small tensors are nearly all like this, and a walk would cost more than their elements.
bool is_flat(const StridedImpl& out, const PointwiseInput& input) {
  return input.tensor == nullptr || (input.tensor->contiguous && input.tensor->sizes == out.sizes);
}
std::int64_t flat_stride(const PointwiseInput& input) {
  return input.tensor == nullptr ? 0 : static_cast<std::int64_t>(size_of(input.tensor->dtype));
}
std::byte* flat_data(const PointwiseInput& input) {
  return input.tensor == nullptr ? address_of(input.constant) : input.tensor->data;
}

// Drivers count dtypes as we do.
static_assert(static_cast<int>(device::ElementType::F64) + 1 == kDTypeCount);
static_assert(static_cast<int>(device::ElementType::Bool) == static_cast<int>(DType::Bool));
static_assert(static_cast<int>(device::ElementType::U8) == static_cast<int>(DType::U8));
static_assert(static_cast<int>(device::ElementType::I8) == static_cast<int>(DType::I8));
static_assert(static_cast<int>(device::ElementType::I16) == static_cast<int>(DType::I16));
static_assert(static_cast<int>(device::ElementType::I32) == static_cast<int>(DType::I32));
static_assert(static_cast<int>(device::ElementType::I64) == static_cast<int>(DType::I64));
static_assert(static_cast<int>(device::ElementType::F32) == static_cast<int>(DType::F32));
static_assert(static_cast<int>(device::ElementType::F64) == static_cast<int>(DType::F64));
device::ElementType type_of(DType dtype) { return static_cast<device::ElementType>(dtype); }

// The tensors among the walk's blocks are the launch's operands, in this order; the others are `number`.
device::Elementwise describe(const char* operation, const Walk& walk, std::initializer_list<const StridedImpl*> blocks,
                             DType number_type, const Constant& number, const Constant& parameter) {
  device::Elementwise made{operation, walk.sizes(), {}, parameter.number()};
  std::size_t block = 0;
  int tensors = 0;
  for (const StridedImpl* tensor : blocks) {
    const bool is_number = tensor == nullptr;
    made.operands.push_back({type_of(is_number ? number_type : tensor->dtype), is_number ? -1 : tensors++,
                             walk.strides(block++), number.number()});
  }
  return made;
}

void launch_unary(const PointwiseKernel& kernel, const StridedImpl& out, const StridedImpl& a,
                  const Constant& parameter) {
  const Walk walk(out.sizes, {&out, &a});
  const std::array<Operand, 2> operands{{{&out, Access::Write}, {&a, Access::Read}}};
  launch(
      kernel.name, operands,
      [walk, run = kernel.run, parameter](Addresses data) { walk.run(run, data, parameter.address()); },
      [&] {
        return describe(kernel.operation, walk, {&out, &a}, a.dtype, Constant(), parameter);
      });
}

void launch_binary(const PointwiseKernel& kernel, const StridedImpl& out, const StridedImpl& a, const StridedImpl& b,
                   const Constant& parameter) {
  const Walk walk(out.sizes, {&out, &a, &b});
  const std::array<Operand, 3> operands{{{&out, Access::Write}, {&a, Access::Read}, {&b, Access::Read}}};
  launch(
      kernel.name, operands,
      [walk, run = kernel.run, parameter](Addresses data) { walk.run(run, data, parameter.address()); },
      [&] {
        return describe(kernel.operation, walk, {&out, &a, &b}, a.dtype, Constant(), parameter);
      });
}

// With one number; `place` is where it stands among the inputs, 1 or 2.
void launch_with_number(const PointwiseKernel& kernel, const StridedImpl& out, const StridedImpl& tensor,
                        const Constant& number, std::size_t place, const Constant& parameter) {
  const StridedImpl* const a = place == 1 ? nullptr : &tensor;
  const StridedImpl* const b = place == 2 ? nullptr : &tensor;
  const Walk walk(out.sizes, {&out, a, b});
  const std::array<Operand, 2> operands{{{&out, Access::Write}, {&tensor, Access::Read}}};
  launch(
      kernel.name, operands,
      [walk, run = kernel.run, number, place, parameter](Addresses data) {
        std::byte* all[3] = {data[0], data[1], data[1]};
        all[place] = address_of(number);
        walk.run(run, all, parameter.address());
      },
      [&] {
        return describe(kernel.operation, walk, {&out, a, b}, tensor.dtype, number, parameter);
      });
}

bool is_empty(const StridedImpl& out) { return out.numel == 0; }

}  // namespace

PointwiseKernel copy_kernel(DType from, DType to) {
  return {"copy", "copy", kernels::table().copy->convert[static_cast<int>(from)][static_cast<int>(to)]};
}

void pointwise(const PointwiseKernel& kernel, const Tensor& out_tensor, const PointwiseInput& a,
               const Constant& parameter) {
  const StridedImpl& out = out_tensor.strided();
  if (is_empty(out)) return;
  if (out.device.is_cpu() && out.contiguous && is_flat(out, a)) {
    std::byte* data[] = {out.data, flat_data(a)};
    const std::int64_t strides[] = {static_cast<std::int64_t>(size_of(out.dtype)), flat_stride(a)};
    return kernel.run(data, strides, out.numel, parameter.address());
  }
  launch_unary(kernel, out, *a.tensor, parameter);
}

void pointwise(const PointwiseKernel& kernel, const Tensor& out_tensor, const PointwiseInput& a,
               const PointwiseInput& b, const Constant& parameter) {
  const StridedImpl& out = out_tensor.strided();
  if (is_empty(out)) return;
  if (out.device.is_cpu() && out.contiguous && is_flat(out, a) && is_flat(out, b)) {
    std::byte* data[] = {out.data, flat_data(a), flat_data(b)};
    const std::int64_t strides[] = {static_cast<std::int64_t>(size_of(out.dtype)), flat_stride(a), flat_stride(b)};
    return kernel.run(data, strides, out.numel, parameter.address());
  }
  if (a.tensor == nullptr) return launch_with_number(kernel, out, *b.tensor, a.constant, 1, parameter);
  if (b.tensor == nullptr) return launch_with_number(kernel, out, *a.tensor, b.constant, 2, parameter);
  launch_binary(kernel, out, *a.tensor, *b.tensor, parameter);
}

void fill_pointwise(const Tensor& out_tensor, const Constant& value) {
  const StridedImpl& out = out_tensor.strided();
  if (is_empty(out)) return;
  const kernels::Run run = kernels::table().copy->fill[static_cast<int>(out.dtype)];
  const Walk walk(out.sizes, {&out});
  launch(
      "fill", std::array<Operand, 1>{{{&out, Access::Write}}},
      [walk, run, value](Addresses data) { walk.run(run, data, value.address()); },
      [&] { return describe("fill", walk, {&out}, out.dtype, Constant(), value); });
}

void check_writable(const char* op, const Tensor& out_tensor) {
  const StridedImpl& out = out_tensor.strided();
  if (out.contiguous) return;
  for (std::size_t i = 0; i < out.sizes.size(); ++i) {
    if (out.strides[i] == 0 && out.sizes[i] > 1) {
      refuse(op, "more than one element of the written-to tensor is the same place in memory; clone() it first",
             {&out_tensor});
    }
  }
}

}  // namespace distrun::tensor
