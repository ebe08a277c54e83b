#include <distrun/runtime/device/drivers/cuda/own_kernels.hpp>

#include <algorithm>
#include <cstring>

#include <distrun/common/base/check.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/runtime/device/drivers/cuda/check.hpp>

namespace distrun::device {
namespace {

static_assert(DISTRUN_CUDA_DIMS == Dims::kMost);
static_assert(DISTRUN_CUDA_OPERANDS == Elementwise::kMostOperands);
static_assert(DISTRUN_CUDA_BOOL == static_cast<int>(ElementType::Bool));
static_assert(DISTRUN_CUDA_U8 == static_cast<int>(ElementType::U8));
static_assert(DISTRUN_CUDA_I8 == static_cast<int>(ElementType::I8));
static_assert(DISTRUN_CUDA_I16 == static_cast<int>(ElementType::I16));
static_assert(DISTRUN_CUDA_I32 == static_cast<int>(ElementType::I32));
static_assert(DISTRUN_CUDA_I64 == static_cast<int>(ElementType::I64));
static_assert(DISTRUN_CUDA_F32 == static_cast<int>(ElementType::F32));
static_assert(DISTRUN_CUDA_F64 == static_cast<int>(ElementType::F64));

std::uint64_t number_of(StreamRef stream) { return static_cast<std::uint64_t>(stream.id); }

std::uint64_t number(const Number& element) {
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, element.bytes.data(), sizeof bytes);
  return bytes;
}

distrun_cuda_operand operand_of(const Elementwise::Operand& operand, const std::vector<Region>& regions) {
  distrun_cuda_operand made{};
  if (operand.region >= 0) made.address = regions[static_cast<std::size_t>(operand.region)].begin;
  std::copy(operand.strides.begin(), operand.strides.end(), made.strides);
  made.number = number(operand.number);
  made.type = static_cast<std::int32_t>(operand.type);
  return made;
}

distrun_cuda_kernel kernel_of(const Elementwise& elementwise, const std::vector<Region>& regions) {
  DISTRUN_ASSERT(elementwise.operands.size() <= DISTRUN_CUDA_OPERANDS);
  distrun_cuda_kernel kernel{};
  kernel.operation = elementwise.operation;
  kernel.dims = static_cast<std::int32_t>(elementwise.sizes.size());
  std::copy(elementwise.sizes.begin(), elementwise.sizes.end(), kernel.sizes);
  for (const Elementwise::Operand& operand : elementwise.operands) {
    kernel.operand[kernel.operands++] = operand_of(operand, regions);
  }
  kernel.parameter = number(elementwise.parameter);
  return kernel;
}

// Returns the largest element size that divides these addresses, run and strides.
std::int64_t element_bytes(const Lattice& bytes, const std::byte* to, const std::byte* from) {
  std::uintptr_t all = reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from);
  all |= static_cast<std::uintptr_t>(bytes.run);
  for (const Lattice::Step step : bytes.steps) all |= static_cast<std::uintptr_t>(step.stride);
  for (const std::uintptr_t size : {8u, 4u, 2u}) {
    if (all % size == 0) return static_cast<std::int64_t>(size);
  }
  return 1;
}

std::int32_t integer_of(std::int64_t bytes) {
  switch (bytes) {
    case 8: return DISTRUN_CUDA_I64;
    case 4: return DISTRUN_CUDA_I32;
    case 2: return DISTRUN_CUDA_I16;
    default: return DISTRUN_CUDA_U8;
  }
}

}  // namespace

bool OwnKernels::launch(StreamRef stream, const Kernel& kernel) const {
  if (!kernel.elementwise) return false;
  const distrun_cuda_kernel made = kernel_of(*kernel.elementwise, kernel.regions);
  const int error = module_.launch(stream.device, number_of(stream), &made);
  if (error == DISTRUN_CUDA_NO_KERNEL) return false;
  check_cuda(module_, error, "launch a kernel");
  return true;
}

void OwnKernels::copy(StreamRef stream, std::byte* to, std::byte* from, const Lattice& bytes) const {
  const std::int64_t element = element_bytes(bytes, to, from);
  Dims sizes, strides;
  for (const Lattice::Step step : bytes.steps) {
    sizes.push_back(step.count);
    strides.push_back(step.stride);
  }
  if (bytes.run > element) {
    sizes.push_back(bytes.run / element);
    strides.push_back(element);
  }
  distrun_cuda_kernel kernel{};
  kernel.operation = "copy";
  kernel.dims = static_cast<std::int32_t>(sizes.size());
  std::copy(sizes.begin(), sizes.end(), kernel.sizes);
  kernel.operands = 2;
  for (int k = 0; k < 2; ++k) {
    kernel.operand[k].address = k == 0 ? to : from;
    kernel.operand[k].type = integer_of(element);
    std::copy(strides.begin(), strides.end(), kernel.operand[k].strides);
  }
  check_cuda(module_, module_.launch(stream.device, number_of(stream), &kernel), "copy memory with holes");
}

}  // namespace distrun::device
