#include <distrun/runtime/tensor/operators/indexing.hpp>

#include <algorithm>
#include <functional>

#include <distrun/runtime/tensor/core/copy.hpp>
#include <distrun/runtime/tensor/core/empty.hpp>
#include <distrun/runtime/tensor/core/launch.hpp>
#include <distrun/runtime/tensor/core/pointwise.hpp>
#include <distrun/runtime/tensor/core/shape.hpp>
#include <distrun/runtime/tensor/core/views.hpp>
#include <distrun/runtime/tensor/operators/around.hpp>
#include <distrun/runtime/tensor/operators/index_numbers.hpp>

namespace distrun::tensor::plain {
namespace {

// Maps index elements to elements of a strided tensor. Offsets in elements.
struct Picks {
  Dims sizes;            // of the index
  Dims strides;          // of the tensor, 0 along the indexed dimension
  std::int64_t stride;   // of that dimension
  std::int64_t choices;  // its size

  std::int64_t row() const noexcept { return sizes.back(); }
  std::int64_t step() const noexcept { return strides.back(); }
  // Calls body(first, base) for each row of a contiguous index: element first + j picks the tensor element at base + j
  // * step() + index[first + j] * stride.
  template <class Body>
  void for_each_row(const Body& body) const;
};

template <class Body>
void Picks::for_each_row(const Body& body) const {
  const std::int64_t count = device::count_of(sizes), row = sizes.back();
  const std::size_t last = sizes.size() - 1;
  const std::int64_t rows = last == 0 ? 1 : sizes[last - 1], down = last == 0 ? 0 : strides[last - 1];
  Dims at(sizes.size(), 0);
  std::int64_t base = 0;
  for (std::int64_t first = 0; first < count;) {
    for (std::int64_t i = 0; i < rows; ++i, first += row) body(first, base + i * down);
    for (std::size_t dim = last == 0 ? 0 : last - 1; dim-- > 0;) {
      base += strides[dim];
      if (++at[dim] < sizes[dim]) break;
      base -= strides[dim] * sizes[dim];
      at[dim] = 0;
    }
  }
}

// Calls body(picked, other) for each index element, with the picked element of `tensor` and the element of `others` at
// the same position.
template <class T, class Other, class Body>
void for_each_pick(const Picks& picks, const std::int64_t* index, T* tensor, Other* others, const Body& body) {
  const std::int64_t count = picks.row(), step = picks.step(), stride = picks.stride;
  const auto for_each_row = [index, tensor, others, &picks](const auto& row) {
    picks.for_each_row([index, tensor, others, &row](std::int64_t first, std::int64_t base) {
      row(index + first, tensor + base, others + first);
    });
  };
  if (step == 0 && stride == 1) {
    return for_each_row([count, &body](const std::int64_t* numbers, T* line, Other* other) {
      for (std::int64_t j = 0; j < count; ++j) body(line[numbers[j]], other[j]);
    });
  }
  for_each_row([count, step, stride, &body](const std::int64_t* numbers, T* line, Other* other) {
    for (std::int64_t j = 0; j < count; ++j, line += step) body(line[numbers[j] * stride], other[j]);
  });
}

Picks picks_of(const char* op, const Tensor& x, std::size_t dim, const Tensor& index) {
  if (index.dim() != x.dim()) refuse(op, "the index must have as many dimensions as the tensor", {&x, &index});
  for (std::size_t i = 0; i < x.sizes().size(); ++i) {
    if (i == dim || index.sizes()[i] <= x.sizes()[i]) continue;
    refuse(op, "the index must be no larger than the tensor apart from dimension " + std::to_string(dim), {&x, &index});
  }
  // Dropping dimensions of one element makes rows longer.
  Picks picks{{}, {}, x.strides()[dim], x.sizes()[dim]};
  for (std::size_t i = 0; i < x.sizes().size(); ++i) {
    if (index.sizes()[i] == 1 && (i + 1 < x.sizes().size() || !picks.sizes.empty())) continue;
    picks.sizes.push_back(index.sizes()[i]);
    picks.strides.push_back(i == dim ? 0 : x.strides()[i]);
  }
  return picks;
}

// Returns the part of the source that the index covers.
Tensor spoken_of(const char* op, const Tensor& source, const Tensor& index) {
  const bool fits = source.dim() == index.dim() &&
                    std::equal(index.sizes().begin(), index.sizes().end(), source.sizes().begin(), std::less_equal<>());
  if (!fits) refuse(op, "the index must be no larger than the source", {&index, &source});
  Tensor part = source;
  for (std::int64_t dim = 0; dim < index.dim(); ++dim) part = narrow(part, dim, 0, index.size(dim));
  return contiguous(part);
}

}  // namespace

Tensor gather(const Tensor& tensor, std::int64_t dim, const Tensor& places, Numbers numbers) {
  constexpr const char* kName = "gather";
  const std::size_t at = check_index(kName, tensor, dim, places);
  const Tensor x = with_a_dimension(tensor), index = contiguous(with_a_dimension(places));
  const Picks picks = picks_of(kName, x, at, index);
  if (numbers == Numbers::Unknown) check_numbers(kName, index, at, picks.choices);
  const Tensor out = empty(places.sizes(), x.options());
  if (out.numel() == 0) return out;
  with_width(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    launch(kName, std::array{writes(out), reads(x), reads(index)}, [picks](Addresses data) {
      for_each_pick(picks, as<std::int64_t>(data[2]), as<T>(data[1]), as_mutable<T>(data[0]),
                    [](T picked, T& taken) { taken = picked; });
    });
  });
  return out;
}

Tensor scatter_add(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source) {
  check_index("scatter_add", x, dim, index);
  const Tensor out = clone(x);
  scatter_add_(out, dim, index, source);
  return out;
}

void scatter_add_(const Tensor& tensor, std::int64_t dim, const Tensor& places, const Tensor& values, Numbers numbers) {
  constexpr const char* kName = "scatter_add";
  const std::size_t at = check_index(kName, tensor, dim, places);
  check_source(kName, tensor, values);
  check_writable(kName, tensor);
  const Tensor x = with_a_dimension(tensor), index = contiguous(unshared(with_a_dimension(places), tensor));
  const Tensor source = spoken_of(kName, unshared(with_a_dimension(values), tensor), index);
  const Picks picks = picks_of(kName, x, at, index);
  if (numbers == Numbers::Unknown) check_numbers(kName, index, at, picks.choices);
  tensor.bump_version();
  if (index.numel() == 0) return;
  visit(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    launch(kName, std::array{updates(x), reads(index), reads(source)}, [picks](Addresses data) {
      for_each_pick(picks, as<std::int64_t>(data[1]), as_mutable<T>(data[0]), as<T>(data[2]),
                    [](T& picked, T value) { add_to(picked, value); });
    });
  });
}

}  // namespace distrun::tensor::plain
