#pragma once
// One pass over several strided blocks of the same sizes, as long runs as they allow: dimensions of one element are
// dropped, the others put in the order of the output's memory and joined where all blocks go on without a gap.
#include <array>
#include <cstddef>
#include <initializer_list>

#include <distrun/runtime/device/dims.hpp>
#include <distrun/runtime/tensor/core/tensor.hpp>
#include <distrun/runtime/tensor/kernels/table.hpp>

namespace distrun::tensor {

// Strides, in elements, with which `tensor` goes over `sizes`, to which it stretches: 0 where it repeats itself.
Dims expanded_strides(const StridedImpl& tensor, const Dims& sizes);

// A value; a kernel captures it.
class Walk {
 public:
  static constexpr std::size_t kMost = 4;

  // Over `sizes`. The first is the output. A null one stands for a constant: it stays where it is.
  Walk(const Dims& sizes, std::initializer_list<const StridedImpl*> blocks);

  // Calls the kernel for each innermost run, with the data of all blocks; of many elements on several threads.
  void run(kernels::Run kernel, std::byte* const* data, const void* parameter) const;

  const Dims& sizes() const noexcept { return sizes_; }  // outermost first; all but what is one run
  const Dims& strides(std::size_t block) const noexcept { return strides_[block]; }  // in bytes

 private:
  void drop_and_order();
  void join();
  bool is_turned(std::size_t block) const noexcept;
  bool is_repeated(std::size_t block) const noexcept;
  bool has_short_repeated_rows() const noexcept;
  void run_part(kernels::Run kernel, std::byte* const* data, const void* parameter) const;
  void run_repeated(kernels::Run kernel, std::array<std::byte*, kMost> at, const void* parameter) const;
  void run_rows(kernels::Run kernel, std::array<std::byte*, kMost> at, const void* parameter) const;
  void run_turned(kernels::Run kernel, std::array<std::byte*, kMost> at, const void* parameter) const;
  template <class Body>
  void for_each_outer(std::size_t dims, std::array<std::byte*, kMost> at, const Body& body) const;

  std::size_t blocks_;
  Dims sizes_;                       // outermost first
  std::array<Dims, kMost> strides_;  // of each block, in bytes
  std::array<DType, kMost> dtypes_;  // of each block
  std::int64_t count_;               // of elements
};

}  // namespace distrun::tensor
