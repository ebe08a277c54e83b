#pragma once
// One pass over several strided blocks of the same sizes, in runs as long as possible: dimensions of one element are
// dropped, the others are put in the output's memory order and merged where all blocks continue without a gap.
#include <array>
#include <cstddef>
#include <initializer_list>

#include <distrun/runtime/device/dims.hpp>
#include <distrun/runtime/tensor/core/tensor.hpp>
#include <distrun/runtime/tensor/kernels/table.hpp>

namespace distrun::tensor {

// Returns the strides, in elements, with which `tensor` is expanded to `sizes`: 0 where it is repeated.
Dims expanded_strides(const StridedImpl& tensor, const Dims& sizes);

// A value type; kernels capture it.
class Walk {
 public:
  static constexpr std::size_t kMost = 4;

  // Walks over `sizes`. The first block is the output. A null block stands for a constant: its address does not
  // advance.
  Walk(const Dims& sizes, std::initializer_list<const StridedImpl*> blocks);

  // Calls the kernel for each innermost run with the data of all blocks; large walks use several threads.
  void run(kernels::Run kernel, std::byte* const* data, const void* parameter) const;

  const Dims& sizes() const noexcept { return sizes_; }                              // outermost first, after merging
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
