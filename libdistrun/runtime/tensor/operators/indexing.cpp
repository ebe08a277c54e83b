#include <distrun/runtime/tensor/operators/indexing.hpp>

#include <algorithm>
#include <cstring>

#include <distrun/runtime/tensor/core/called_operator.hpp>
#include <distrun/runtime/tensor/core/copy.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>
#include <distrun/runtime/tensor/core/launch.hpp>
#include <distrun/runtime/tensor/core/pointwise.hpp>
#include <distrun/runtime/tensor/core/promotion.hpp>
#include <distrun/runtime/tensor/core/shape.hpp>
#include <distrun/runtime/tensor/core/views.hpp>
#include <distrun/runtime/tensor/kernels/instruction_set.hpp>
#include <distrun/runtime/tensor/operators/around.hpp>
#include <distrun/runtime/tensor/operators/elementwise.hpp>
#include <distrun/runtime/tensor/operators/index_numbers.hpp>

namespace distrun::tensor::plain {
namespace {

// Returns slice numbers as [n].
Tensor list_of(const char* op, const Tensor& index) {
  if (index.dim() > 1) refuse(op, "the index must be a list of numbers", {&index});
  return contiguous(with_a_dimension(index));
}

Dims with_size(const Tensor& tensor, std::size_t dim, std::int64_t size) {
  Dims sizes = tensor.sizes();
  sizes[dim] = size;
  return sizes;
}

// Picks the same elements of each line, four lines at a time to read the numbers once for them.
template <class T>
void take_elements(const T* from, std::int64_t lines, std::int64_t size, T* to, const std::int64_t* numbers,
                   std::int64_t count) {
  for (; lines >= 4; lines -= 4, from += 4 * size, to += 4 * count) {
    const T *const second = from + size, *const third = second + size, *const fourth = third + size;
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t number = numbers[i];
      to[i] = from[number];
      to[count + i] = second[number];
      to[2 * count + i] = third[number];
      to[3 * count + i] = fourth[number];
    }
  }
  for (; lines > 0; --lines, from += size, to += count) {
    for (std::int64_t i = 0; i < count; ++i) to[i] = from[numbers[i]];
  }
}

// Each of the `lines.outer` blocks holds lines.size runs of elements, one per slice.
template <class T>
void take_slices(const T* from, T* to, const std::int64_t* numbers, std::int64_t count, const Around& lines) {
  if (lines.inner == 1) return take_elements(from, lines.outer, lines.size, to, numbers, count);
  const std::int64_t block = lines.size * lines.inner;
  for (std::int64_t before = 0; before < lines.outer; ++before, from += block) {
    for (std::int64_t i = 0; i < count; ++i, to += lines.inner) {
      std::memcpy(to, from + numbers[i] * lines.inner, static_cast<std::size_t>(lines.inner) * sizeof(T));
    }
  }
}

kernels::Run adding_kernel(DType dtype) {
  return kernels::table().binary->run[static_cast<int>(kernels::Binary::Add)][static_cast<int>(dtype)];
}

// Adds slices of several elements with the kernel of add().
template <class T>
void add_slices(T* to, const T* from, const std::int64_t* numbers, std::int64_t count, const Around& lines,
                kernels::Run add) {
  const T one{1};
  const std::int64_t strides[] = {sizeof(T), sizeof(T), sizeof(T)};
  for (std::int64_t before = 0; before < lines.outer; ++before, to += lines.size * lines.inner) {
    if (lines.inner == 1) {
      for (std::int64_t i = 0; i < count; ++i) add_to(to[numbers[i]], *from++);
      continue;
    }
    for (std::int64_t i = 0; i < count; ++i, from += lines.inner) {
      auto* const slice = reinterpret_cast<std::byte*>(to + numbers[i] * lines.inner);
      auto* const source = reinterpret_cast<std::byte*>(const_cast<T*>(from));  // inputs are only read
      std::byte* const data[] = {slice, slice, source};
      add(data, {strides, lines.inner}, {}, &one);
    }
  }
}

}  // namespace

Tensor index_select(const Tensor& tensor, std::int64_t dim, const Tensor& index, Numbers numbers) {
  constexpr const char* kName = "index_select";
  const std::size_t at = check_index(kName, tensor, dim, index);
  const Tensor x = contiguous(with_a_dimension(tensor)), list = list_of(kName, index);
  if (numbers == Numbers::Unknown) check_numbers(kName, list, at, x.sizes()[at]);
  const std::int64_t count = list.numel();
  const bool is_one = tensor.dim() == 0 && count == 1;
  const Tensor out = empty(is_one ? Dims{} : with_size(x, at, count), x.options());
  if (out.numel() == 0) return out;
  with_width(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    launch(kName, std::array{writes(out), reads(x), reads(list)},
           [lines = around(x.sizes(), at), count](Addresses data) {
             take_slices(as<T>(data[1]), as_mutable<T>(data[0]), as<std::int64_t>(data[2]), count, lines);
           });
  });
  return out;
}

Tensor index_add(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha) {
  check_index("index_add", x, dim, index);
  const Tensor out = clone(x);
  index_add_(out, dim, index, source, alpha);
  return out;
}

void index_add_(const Tensor& tensor, std::int64_t dim, const Tensor& index, const Tensor& values, const Scalar& alpha,
                Numbers numbers) {
  constexpr const char* kName = "index_add";
  const std::size_t at = check_index(kName, tensor, dim, index);
  check_source(kName, tensor, values);
  check_factor(kName, tensor.dtype(), alpha);
  check_writable(kName, tensor);
  const Tensor list = list_of(kName, unshared(index, tensor)), given = with_a_dimension(unshared(values, tensor));
  const Dims sizes = with_size(with_a_dimension(tensor), at, list.numel());
  if (given.sizes() != sizes) refuse(kName, "the source must have the sizes " + to_string(sizes), {&tensor, &values});
  if (numbers == Numbers::Unknown) check_numbers(kName, list, at, with_a_dimension(tensor).sizes()[at]);
  const Tensor source = contiguous(alpha == Scalar(1) ? given : to(mul(given, alpha), tensor.dtype()));
  const Tensor x = contiguous(with_a_dimension(tensor));
  if (source.numel() > 0) {
    visit(x.dtype(), [&](auto zero) {
      using T = decltype(zero);
      launch(kName, std::array{updates(x), reads(source), reads(list)},
             [lines = around(x.sizes(), at), count = list.numel(), add = adding_kernel(x.dtype())](Addresses data) {
               add_slices(as_mutable<T>(data[0]), as<T>(data[1]), as<std::int64_t>(data[2]), count, lines, add);
             });
    });
  }
  if (tensor.is_contiguous()) return tensor.bump_version();
  copy_(tensor, x);
}

Tensor one_hot(const Tensor& numbers, std::int64_t classes) {
  constexpr const char* kName = "one_hot";
  const CalledOperator called(kName);
  check_defined(kName, {&numbers});
  check_dense(kName, {&numbers});
  if (numbers.dtype() != DType::I64) refuse(kName, "the numbers must be int64", {&numbers});
  if (classes < 0) {
    if (numbers.numel() == 0) refuse(kName, "without numbers the number of classes must be given", {&numbers});
    const std::vector<std::int64_t> all = to_vector<std::int64_t>(numbers);
    const std::int64_t largest = *std::max_element(all.begin(), all.end());
    if (largest == INT64_MAX)
      refuse(kName, "the class number " + std::to_string(largest) + " is too large", {&numbers});
    classes = largest + 1;
  }
  check_numbers(kName, numbers, numbers.sizes().size(), classes);
  return to(eq(unsqueeze(numbers, -1), arange(classes, numbers.device())), DType::I64);
}

}  // namespace distrun::tensor::plain
