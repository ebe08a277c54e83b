#include <distrun/runtime/tensor/operators/cumulative.hpp>

#include <algorithm>
#include <vector>

#include <distrun/runtime/tensor/core/copy.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>
#include <distrun/runtime/tensor/core/launch.hpp>
#include <distrun/runtime/tensor/core/shape.hpp>
#include <distrun/runtime/tensor/core/views.hpp>
#include <distrun/runtime/tensor/operators/reduced_lines.hpp>

namespace distrun::tensor::plain {
namespace {

constexpr std::int64_t kColumns = 256;  // columns in progress at a time

// The type of totals; integers wrap.
template <class T>
using Total = std::conditional_t<std::is_floating_point_v<T>, double, std::uint64_t>;

// Calls body with a zero of the result's dtype.
template <class Body>
void with_total(DType dtype, const Body& body) {
  if (dtype == DType::I64) return body(std::int64_t{});
  with_floating(dtype, body);
}

std::size_t checked_dim(const char* op, const Tensor& tensor, std::int64_t dim) {
  check_defined(op, {&tensor});
  check_dense(op, {&tensor});
  return wrap_dim(op, dim, tensor.sizes().size());
}

// Backwards, each total covers the elements after it.
std::int64_t step_of(std::int64_t i, std::int64_t size, bool is_backwards) { return is_backwards ? size - 1 - i : i; }

// Sums kRows rows at a time, because each addition waits for the previous one.
template <std::int64_t kRows, class T>
void add_up_rows(const T* in, T* out, std::int64_t size, bool is_backwards) {
  Total<T> totals[kRows] = {};
  for (std::int64_t i = 0; i < size; ++i) {
    const std::int64_t at = step_of(i, size, is_backwards);
    for (std::int64_t row = 0; row < kRows; ++row) {
      totals[row] += static_cast<Total<T>>(in[row * size + at]);
      out[row * size + at] = static_cast<T>(totals[row]);
    }
  }
}

template <class T>
void add_up_all_rows(const T* in, T* out, const Around& lines, bool is_backwards) {
  constexpr std::int64_t kTogether = 4;
  std::int64_t row = 0;
  for (; row + kTogether <= lines.outer; row += kTogether) {
    add_up_rows<kTogether>(in + row * lines.size, out + row * lines.size, lines.size, is_backwards);
  }
  for (; row < lines.outer; ++row)
    add_up_rows<1>(in + row * lines.size, out + row * lines.size, lines.size, is_backwards);
}

// Sums along lines that lie side by side.
template <class T>
void add_up_columns(const T* in, T* out, const Around& lines, bool is_backwards) {
  for (std::int64_t before = 0; before < lines.outer; ++before) {
    for (std::int64_t first = 0; first < lines.inner; first += kColumns) {
      const std::int64_t columns = std::min(kColumns, lines.inner - first);
      Total<T> totals[kColumns] = {};
      for (std::int64_t i = 0; i < lines.size; ++i) {
        const std::int64_t at = lines.at(before, step_of(i, lines.size, is_backwards), first);
        for (std::int64_t j = 0; j < columns; ++j) {
          totals[j] += static_cast<Total<T>>(in[at + j]);
          out[at + j] = static_cast<T>(totals[j]);
        }
      }
    }
  }
}

Tensor added_up(const char* op, const Tensor& tensor, std::int64_t dim, bool is_backwards) {
  const Around lines = around(tensor.sizes(), checked_dim(op, tensor, dim));
  const Tensor in = contiguous(to(tensor, total_type(tensor.dtype())));
  const Tensor out = empty(in.sizes(), in.options());
  if (out.numel() == 0) return out;
  with_total(in.dtype(), [&](auto zero) {
    using T = decltype(zero);
    launch(op, std::array{writes(out), reads(in)}, [lines, is_backwards](Addresses data) {
      (lines.inner == 1 ? add_up_all_rows<T> : add_up_columns<T>)(as<T>(data[1]), as_mutable<T>(data[0]), lines,
                                                                  is_backwards);
    });
  });
  return out;
}

Tensor product_over(const Tensor& tensor, const Dims& dims, bool keep_dims) {
  const ReducedLines reduced = reduced_lines("prod", to(tensor, total_type(tensor.dtype())), dims, keep_dims);
  const Tensor out = empty(reduced.sizes, reduced.tensor.options());
  if (out.numel() == 0) return out;
  with_total(out.dtype(), [&](auto zero) {
    using T = decltype(zero);
    launch("prod", std::array{writes(out), reads(reduced.tensor)}, [lines = reduced.lines](Addresses data) {
      T* to = as_mutable<T>(data[0]);
      for_each_line(lines, [&](std::int64_t before, std::int64_t after) {
        Total<T> product = 1;
        for (std::int64_t i = 0; i < lines.size; ++i) {
          product *= static_cast<Total<T>>(as<T>(data[1])[lines.at(before, i, after)]);
        }
        *to++ = static_cast<T>(product);
      });
    });
  });
  return out;
}

// Passes over the line twice: product of the preceding elements, times product of the following ones, so that no
// division is needed. Both are double, since a partial product may exceed T where the result does not.
template <class T>
void share_product(const T* gradient, const T* in, T* out, const Around& lines) {
  std::vector<double> products(static_cast<std::size_t>(lines.size));
  for_each_line(lines, [&](std::int64_t before, std::int64_t after) {
    double product = static_cast<double>(*gradient++);
    for (std::int64_t i = 0; i < lines.size; ++i) {
      products[static_cast<std::size_t>(i)] = product;
      product *= static_cast<double>(in[lines.at(before, i, after)]);
    }
    product = 1;
    for (std::int64_t i = lines.size; i-- > 0;) {
      const std::int64_t at = lines.at(before, i, after);
      out[at] = static_cast<T>(products[static_cast<std::size_t>(i)] * product);
      product *= static_cast<double>(in[at]);
    }
  });
}

}  // namespace

Tensor cumsum(const Tensor& tensor, std::int64_t dim) { return added_up("cumsum", tensor, dim, false); }
Tensor cumsum_gradient(const Tensor& gradient, std::int64_t dim) {
  return added_up("cumsum_gradient", gradient, dim, true);
}

Tensor prod(const Tensor& tensor) {
  check_defined("prod", {&tensor});
  check_dense("prod", {&tensor});
  return product_over(tensor, {}, false);
}

Tensor prod_along(const Tensor& tensor, std::int64_t dim, bool keep_dim) {
  checked_dim("prod", tensor, dim);
  return product_over(tensor, {dim}, keep_dim);
}

Tensor prod_gradient(const Tensor& gradient, const Tensor& input, std::int64_t dim) {
  constexpr const char* kName = "prod_gradient";
  const Around lines = around(input.sizes(), checked_dim(kName, input, dim));
  const Tensor out = empty(input.sizes(), input.options());
  if (out.numel() == 0) return out;
  with_floating(input.dtype(), [&](auto zero) {
    using T = decltype(zero);
    launch(kName, std::array{writes(out), reads(contiguous(gradient)), reads(contiguous(input))},
           [lines](Addresses data) { share_product(as<T>(data[1]), as<T>(data[2]), as_mutable<T>(data[0]), lines); });
  });
  return out;
}

}  // namespace distrun::tensor::plain
