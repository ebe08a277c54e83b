#include <distrun/tensor/pointwise.hpp>

#include <distrun/tensor/copy.hpp>
#include <distrun/tensor/kernels/instruction_set.hpp>
#include <distrun/tensor/launch.hpp>
#include <distrun/tensor/shape.hpp>
#include <distrun/tensor/walk.hpp>

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

void launch_unary(const char* name, kernels::Run run, const StridedImpl& out, const StridedImpl& a,
                  const Constant& parameter) {
  const Walk walk(out.sizes, {&out, &a});
  const std::array<Operand, 2> operands{{{&out, Access::Write}, {&a, Access::Read}}};
  launch(name, operands, [walk, run, parameter](Addresses data) { walk.run(run, data, parameter.address()); });
}

void launch_binary(const char* name, kernels::Run run, const StridedImpl& out, const StridedImpl& a,
                   const StridedImpl& b, const Constant& parameter) {
  const Walk walk(out.sizes, {&out, &a, &b});
  const std::array<Operand, 3> operands{{{&out, Access::Write}, {&a, Access::Read}, {&b, Access::Read}}};
  launch(name, operands, [walk, run, parameter](Addresses data) { walk.run(run, data, parameter.address()); });
}

// With one number; `place` is where it stands among the inputs, 1 or 2.
void launch_with_number(const char* name, kernels::Run run, const StridedImpl& out, const StridedImpl& tensor,
                        const Constant& number, std::size_t place, const Constant& parameter) {
  const Walk walk = place == 2 ? Walk(out.sizes, {&out, &tensor, nullptr}) : Walk(out.sizes, {&out, nullptr, &tensor});
  const std::array<Operand, 2> operands{{{&out, Access::Write}, {&tensor, Access::Read}}};
  launch(name, operands, [walk, run, number, place, parameter](Addresses data) {
    std::byte* all[3] = {data[0], data[1], data[1]};
    all[place] = address_of(number);
    walk.run(run, all, parameter.address());
  });
}

bool is_empty(const StridedImpl& out) { return out.numel == 0; }

}  // namespace

void pointwise(const char* name, kernels::Run run, const Tensor& out_tensor, const PointwiseInput& a,
               const Constant& parameter) {
  const StridedImpl& out = out_tensor.strided();
  if (is_empty(out)) return;
  if (out.device.is_cpu() && out.contiguous && is_flat(out, a)) {
    std::byte* data[] = {out.data, flat_data(a)};
    const std::int64_t strides[] = {static_cast<std::int64_t>(size_of(out.dtype)), flat_stride(a)};
    return run(data, strides, out.numel, parameter.address());
  }
  launch_unary(name, run, out, *a.tensor, parameter);
}

void pointwise(const char* name, kernels::Run run, const Tensor& out_tensor, const PointwiseInput& a,
               const PointwiseInput& b, const Constant& parameter) {
  const StridedImpl& out = out_tensor.strided();
  if (is_empty(out)) return;
  if (out.device.is_cpu() && out.contiguous && is_flat(out, a) && is_flat(out, b)) {
    std::byte* data[] = {out.data, flat_data(a), flat_data(b)};
    const std::int64_t strides[] = {static_cast<std::int64_t>(size_of(out.dtype)), flat_stride(a), flat_stride(b)};
    return run(data, strides, out.numel, parameter.address());
  }
  if (a.tensor == nullptr) return launch_with_number(name, run, out, *b.tensor, a.constant, 1, parameter);
  if (b.tensor == nullptr) return launch_with_number(name, run, out, *a.tensor, b.constant, 2, parameter);
  launch_binary(name, run, out, *a.tensor, *b.tensor, parameter);
}

void fill_pointwise(const Tensor& out_tensor, const Constant& value) {
  const StridedImpl& out = out_tensor.strided();
  if (is_empty(out)) return;
  const kernels::Run run = kernels::table().elements->fill[static_cast<int>(out.dtype)];
  const Walk walk(out.sizes, {&out});
  launch("fill", std::array<Operand, 1>{{{&out, Access::Write}}},
         [walk, run, value](Addresses data) { walk.run(run, data, value.address()); });
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

Tensor apart(const Tensor& input, const Tensor& out) {
  const StridedImpl& from = input.strided();
  const StridedImpl& to = out.strided();
  if (!(from.storage() == to.storage())) return input;
  const bool is_same_walk = from.data == to.data && from.sizes == to.sizes && from.strides == to.strides;
  if (is_same_walk || from.numel == 0 || to.numel == 0) return input;
  // Of one dtype or not: in bytes.
  const auto reach_in_bytes = [](const StridedImpl& tensor) {
    Reach reach = reach_of(tensor.sizes, tensor.strides, tensor.offset);
    const auto bytes = static_cast<std::int64_t>(size_of(tensor.dtype));
    return Reach{reach.first * bytes, reach.last * bytes + bytes - 1, true};
  };
  const Reach a = reach_in_bytes(from), b = reach_in_bytes(to);
  return a.last < b.first || b.last < a.first ? input : clone(input);
}

}  // namespace distrun::tensor
