#include <distrun/runtime/tensor/core/pointwise.hpp>

#include <distrun/runtime/tensor/core/launch.hpp>
#include <distrun/runtime/tensor/core/parallel.hpp>
#include <distrun/runtime/tensor/core/shape.hpp>
#include <distrun/runtime/tensor/core/walk.hpp>
#include <distrun/runtime/tensor/kernels/instruction_set.hpp>

namespace distrun::tensor {
namespace {

using device::Access;

std::byte* address_of(const Constant& constant) {
  return const_cast<std::byte*>(static_cast<const std::byte*>(constant.address()));  // inputs are only read
}

// Small tensors are nearly all flat, and a walk would cost more than their elements.
bool is_flat(const StridedImpl& out, const PointwiseInput& input) {
  return input.tensor == nullptr || (input.tensor->contiguous && input.tensor->sizes == out.sizes);
}
std::int64_t flat_stride(const PointwiseInput& input) {
  return input.tensor == nullptr ? 0 : static_cast<std::int64_t>(size_of(input.tensor->dtype));
}
std::byte* data_of(const PointwiseInput& input) {
  return input.tensor == nullptr ? address_of(input.constant) : input.tensor->data;
}

// Drivers number dtypes in the same way.
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

device::Elementwise::Operand describe(const PointwiseInput& input, int region, const Dims& strides) {
  if (input.tensor != nullptr) return {type_of(input.tensor->dtype), region, strides, {}};
  return {type_of(input.constant.dtype()), -1, strides, input.constant.number()};
}

// Runs on a GPU. Operands of the launch are the output and the inputs that are tensors; constants stay in place.
template <std::size_t N>
class GpuLaunch {
 public:
  GpuLaunch(const PointwiseKernel& kernel, const StridedImpl& out, const std::array<const PointwiseInput*, N>& inputs)
      : kernel_(kernel), out_(out), inputs_(inputs), operands_{{{&out, Access::Write}}} {
    for (const PointwiseInput* input : inputs) {
      if (input->tensor != nullptr) operands_[count_++] = {input->tensor, Access::Read};
    }
  }

  void operator()(const Walk& walk, const Constant& parameter) const {
    launch_on_stream(kernel_.name, out_.device, std::span(operands_.data(), count_), host_code(walk, parameter),
                     described(walk, parameter));
  }

 private:
  HostKernel host_code(const Walk& walk, const Constant& parameter) const {
    std::array<std::optional<Constant>, N> numbers;
    for (std::size_t i = 0; i < N; ++i) {
      if (inputs_[i]->tensor == nullptr) numbers[i] = inputs_[i]->constant;
    }
    return [walk, run = kernel_.run, numbers, parameter](Addresses tensors) {
      std::array<std::byte*, N + 1> data{*tensors++};
      for (std::size_t i = 0; i < N; ++i) data[i + 1] = numbers[i] ? address_of(*numbers[i]) : *tensors++;
      walk.run(run, data.data(), parameter.address());
    };
  }
  device::Elementwise described(const Walk& walk, const Constant& parameter) const {
    device::Elementwise made{kernel_.operation, walk.sizes(), {}, parameter.number()};
    made.operands.push_back({type_of(out_.dtype), 0, walk.strides(0), {}});
    int tensors = 1;
    for (std::size_t i = 0; i < N; ++i) {
      const int region = inputs_[i]->tensor == nullptr ? -1 : tensors++;
      made.operands.push_back(describe(*inputs_[i], region, walk.strides(i + 1)));
    }
    return made;
  }

  const PointwiseKernel& kernel_;
  const StridedImpl& out_;
  const std::array<const PointwiseInput*, N>& inputs_;
  std::array<Operand, N + 1> operands_;
  std::size_t count_ = 1;
};

// Runs over inputs that are all contiguous or constants.
template <std::size_t N>
void run_flat(kernels::Run run, std::byte* const (&data)[N], const std::int64_t (&strides)[N], std::int64_t count,
              const Constant& parameter) {
  parallel_for(count, kElementsEach, [&](std::int64_t first, std::int64_t end) {
    std::byte* part[N];
    for (std::size_t i = 0; i < N; ++i) part[i] = data[i] + first * strides[i];
    run(part, {strides, end - first}, {}, parameter.address());
  });
}

template <class... Inputs>
void run_pointwise(const PointwiseKernel& kernel, const Tensor& out_tensor, const Constant& parameter,
                   const Inputs&... inputs) {
  const StridedImpl& out = out_tensor.strided();
  if (out.numel == 0) return;
  std::byte* const data[] = {out.data, data_of(inputs)...};
  if (out.device.is_cpu() && out.contiguous && (is_flat(out, inputs) && ...)) {
    const std::int64_t strides[] = {static_cast<std::int64_t>(size_of(out.dtype)), flat_stride(inputs)...};
    return run_flat(kernel.run, data, strides, out.numel, parameter);
  }
  const Walk walk(out.sizes, {&out, inputs.tensor...});
  if (out.device.is_cpu()) return walk.run(kernel.run, data, parameter.address());
  const std::array<const PointwiseInput*, sizeof...(inputs)> all{&inputs...};
  GpuLaunch<sizeof...(inputs)>(kernel, out, all)(walk, parameter);
}

}  // namespace

PointwiseKernel copy_kernel(DType from, DType to) {
  return {"copy", "copy", kernels::table().copy->convert[static_cast<int>(from)][static_cast<int>(to)]};
}

void pointwise(const PointwiseKernel& kernel, const Tensor& out, const PointwiseInput& a, const Constant& parameter) {
  run_pointwise(kernel, out, parameter, a);
}
void pointwise(const PointwiseKernel& kernel, const Tensor& out, const PointwiseInput& a, const PointwiseInput& b,
               const Constant& parameter) {
  run_pointwise(kernel, out, parameter, a, b);
}
void pointwise(const PointwiseKernel& kernel, const Tensor& out, const PointwiseInput& a, const PointwiseInput& b,
               const PointwiseInput& c, const Constant& parameter) {
  run_pointwise(kernel, out, parameter, a, b, c);
}

void fill_pointwise(const Tensor& out_tensor, const Constant& value) {
  const StridedImpl& out = out_tensor.strided();
  if (out.numel == 0) return;
  const kernels::Run run = kernels::table().copy->fill[static_cast<int>(out.dtype)];
  const Walk walk(out.sizes, {&out});
  launch(
      "fill", std::array<Operand, 1>{{{&out, Access::Write}}},
      [walk, run, value](Addresses data) { walk.run(run, data, value.address()); },
      [&] {
        return device::Elementwise{
            "fill", walk.sizes(), {{type_of(out.dtype), 0, walk.strides(0), {}}}, value.number()};
      });
}

void check_writable(const char* op, const Tensor& out_tensor) {
  const StridedImpl& out = out_tensor.strided();
  if (out.contiguous) return;
  for (std::size_t i = 0; i < out.sizes.size(); ++i) {
    if (out.strides[i] == 0 && out.sizes[i] > 1) {
      refuse(op, "several elements of the output share memory; clone() it first", {&out_tensor});
    }
  }
}

}  // namespace distrun::tensor
