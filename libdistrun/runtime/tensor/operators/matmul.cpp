#include <distrun/runtime/tensor/operators/matmul.hpp>

#include <algorithm>

#include <distrun/runtime/tensor/core/copy.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>
#include <distrun/runtime/tensor/core/launch.hpp>
#include <distrun/runtime/tensor/core/parallel.hpp>
#include <distrun/runtime/tensor/core/reshape.hpp>
#include <distrun/runtime/tensor/core/shape.hpp>
#include <distrun/runtime/tensor/core/views.hpp>
#include <distrun/runtime/tensor/core/walk.hpp>
#include <distrun/runtime/tensor/operators/elementwise.hpp>
#include <distrun/runtime/tensor/operators/product.hpp>

namespace distrun::tensor::plain {
namespace {

void check(const char* op, const Tensor& a, const Tensor& b) {
  check_defined(op, {&a, &b});
  check_dense(op, {&a, &b});
  check_same_device(op, {&a, &b});
  check_same_dtype(op, a, b);
}

std::string shape_text(const Tensor& matrix) {
  return std::to_string(matrix.size(-2)) + "x" + std::to_string(matrix.size(-1));
}

void check_inner(const char* op, const Tensor& a, const Tensor& b) {
  if (a.size(-1) == b.size(-2)) return;
  refuse(op, "mat1 and mat2 shapes cannot be multiplied (" + shape_text(a) + " and " + shape_text(b) + ")", {&a, &b});
}

void check_no_bool(const char* op, const Tensor& tensor) {
  if (tensor.dtype() == DType::Bool) refuse(op, "not for elements of bool", {&tensor});
}

Tensor multipliable(const Tensor& tensor) { return is_multipliable(tensor.strided()) ? tensor : clone(tensor); }

Tensor multiply_matrices(const char* op, const Tensor& left, const Tensor& right) {
  check_no_bool(op, left);
  const Tensor out = empty({left.size(0), right.size(1)}, left.options());
  if (out.numel() == 0) return out;
  if (left.size(1) == 0) return zeros(out.sizes(), out.options());
  const Tensor a = multipliable(left), b = multipliable(right);
  const kernels::Product product = product_of(a.strided(), b.strided());
  launch(op, std::array{writes(out), reads(a), reads(b)},
         [product, multiply = multiply_of(op, out.dtype(), product), dtype = out.dtype()](Addresses data) {
           kernels::Product at = product;
           at.c = data[0];
           at.a = data[1];
           at.b = data[2];
           multiply_rows(at, multiply, dtype);
         });
  return out;
}

// Layout of a batch of matrices.
struct Batch {
  Dims sizes;
  Dims a_strides, b_strides;  // in bytes
  std::int64_t c_bytes;       // per result
};

Dims in_bytes(Dims strides, DType dtype) {
  for (std::int64_t& stride : strides) stride *= static_cast<std::int64_t>(size_of(dtype));
  return strides;
}

// Returns the strides of `tensor`'s batch dimensions, broadcast to `sizes`.
Dims batch_strides(const StridedImpl& tensor, const Dims& sizes) {
  Dims full = sizes;
  full.push_back(tensor.sizes[tensor.sizes.size() - 2]);
  full.push_back(tensor.sizes.back());
  Dims strides = expanded_strides(tensor, full);
  strides.erase(strides.size() - 1);
  strides.erase(strides.size() - 1);
  return in_bytes(strides, tensor.dtype);
}

std::int64_t offset_of(std::int64_t number, const Dims& sizes, const Dims& strides) {
  std::int64_t offset = 0;
  for (std::size_t dim = sizes.size(); dim-- > 0; number /= sizes[dim]) offset += number % sizes[dim] * strides[dim];
  return offset;
}

void multiply_batch(const Batch& batch, const kernels::Product& product, kernels::Multiply multiply, Addresses data) {
  parallel_for(device::count_of(batch.sizes), products_each(product), [&](std::int64_t i, std::int64_t end) {
    kernels::Product at = product;
    for (; i < end; ++i) {
      at.c = data[0] + i * batch.c_bytes;
      at.a = data[1] + offset_of(i, batch.sizes, batch.a_strides);
      at.b = data[2] + offset_of(i, batch.sizes, batch.b_strides);
      multiply(at);
    }
  });
}

Dims batch_of(const Tensor& tensor) { return Dims(tensor.sizes().span().first(tensor.sizes().size() - 2)); }

Dims broadcast_batches(const char* op, const Tensor& a, const Tensor& b) {
  const Dims of_a = batch_of(a), of_b = batch_of(b);
  Dims sizes = of_a.size() >= of_b.size() ? of_a : of_b;
  for (std::size_t i = 1; i <= std::min(of_a.size(), of_b.size()); ++i) {
    const std::int64_t from_a = of_a[of_a.size() - i], from_b = of_b[of_b.size() - i];
    if (from_a != from_b && from_a != 1 && from_b != 1) {
      refuse(op,
             "the size of tensor a (" + std::to_string(from_a) + ") must match the size of tensor b (" +
                 std::to_string(from_b) + ") at non-singleton dimension " + std::to_string(sizes.size() - i),
             {&a, &b});
    }
    sizes[sizes.size() - i] = from_a == 1 ? from_b : from_a;
  }
  return sizes;
}

Tensor multiply_batches(const char* op, const Tensor& left, const Tensor& right) {
  check_no_bool(op, left);
  const Dims sizes = broadcast_batches(op, left, right);
  Dims out_sizes = sizes;
  out_sizes.push_back(left.size(-2));
  out_sizes.push_back(right.size(-1));
  const Tensor out = empty(out_sizes, left.options());
  if (out.numel() == 0) return out;
  if (left.size(-1) == 0) return zeros(out_sizes, out.options());
  const Tensor a = multipliable(left), b = multipliable(right);
  const kernels::Product product = product_of(a.strided(), b.strided());
  const Batch batch{sizes, batch_strides(a.strided(), sizes), batch_strides(b.strided(), sizes),
                    left.size(-2) * right.size(-1) * static_cast<std::int64_t>(size_of(out.dtype()))};
  launch(op, std::array{writes(out), reads(a), reads(b)},
         [batch, product, multiply = multiply_of(op, out.dtype(), product)](Addresses data) {
           multiply_batch(batch, product, multiply, data);
         });
  return out;
}

// The cheapest order of a chain of products: split[i][j] is the last product of the chain from i to j.
class ChainOrder {
 public:
  explicit ChainOrder(const std::vector<std::int64_t>& sizes)
      : count_(sizes.size() - 1), cost_(count_ * count_, 0), split_(count_ * count_, 0) {
    for (std::size_t length = 1; length < count_; ++length) {
      for (std::size_t from = 0; from + length < count_; ++from) choose(sizes, from, from + length);
    }
  }

  Tensor multiply(const TensorList& tensors) const { return multiply(tensors, 0, count_ - 1); }

 private:
  void choose(const std::vector<std::int64_t>& sizes, std::size_t from, std::size_t to) {
    double& least = cost_[from * count_ + to];
    for (std::size_t last = from; last < to; ++last) {
      const double product =
          static_cast<double>(sizes[from]) * static_cast<double>(sizes[last + 1]) * static_cast<double>(sizes[to + 1]);
      const double cost = cost_[from * count_ + last] + cost_[(last + 1) * count_ + to] + product;
      if (last > from && cost >= least) continue;
      least = cost;
      split_[from * count_ + to] = last;
    }
  }

  Tensor multiply(const TensorList& tensors, std::size_t from, std::size_t to) const {
    if (from == to) return tensors[from];
    const std::size_t last = split_[from * count_ + to];
    return multiply_matrices("multi_dot", multiply(tensors, from, last), multiply(tensors, last + 1, to));
  }

  std::size_t count_;
  std::vector<double> cost_;
  std::vector<std::size_t> split_;
};

// Checks the bias of linear(): it must broadcast to the result without changing the result's sizes.
void check_bias(const Tensor& bias, const Tensor& x, const Dims& sizes) {
  if (!bias.defined()) return;
  check("linear", x, bias);
  if (is_expandable(bias.sizes(), sizes)) return;
  refuse("linear", "the bias cannot be expanded to the result's sizes " + to_string(sizes), {&bias});
}

constexpr std::size_t kMostFactors = 256;  // finding the order takes cubic time and recursion to that depth

void check_factors(const TensorList& tensors) {
  if (tensors.size() < 2 || tensors.size() > kMostFactors) {
    refuse("multi_dot",
           "2 to " + std::to_string(kMostFactors) + " tensors are needed, but got " + std::to_string(tensors.size()),
           {});
  }
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    check("multi_dot", tensors.front(), tensors[i]);
    const bool may_be_vector = i == 0 || i + 1 == tensors.size();
    if (tensors[i].dim() != 2 && !(may_be_vector && tensors[i].dim() == 1)) {
      refuse("multi_dot",
             "tensor " + std::to_string(i) + " must have " + (may_be_vector ? "1 or " : "") + "2 dimensions",
             {&tensors[i]});
    }
  }
}

}  // namespace

Tensor mm(const Tensor& a, const Tensor& b) {
  check("mm", a, b);
  check_rank("mm", a, 2);
  check_rank("mm", b, 2);
  check_inner("mm", a, b);
  return multiply_matrices("mm", a, b);
}

Tensor bmm(const Tensor& a, const Tensor& b) {
  check("bmm", a, b);
  check_rank("bmm", a, 3);
  check_rank("bmm", b, 3);
  if (a.size(0) != b.size(0) || a.size(2) != b.size(1)) {
    refuse("bmm",
           "expected size for first two dimensions of batch2 tensor to be: [" + std::to_string(a.size(0)) + ", " +
               std::to_string(a.size(2)) + "] but got: [" + std::to_string(b.size(0)) + ", " +
               std::to_string(b.size(1)) + "]",
           {&a, &b});
  }
  return multiply_batches("bmm", a, b);
}

Tensor matmul(const Tensor& a, const Tensor& b) {
  check("matmul", a, b);
  if (a.dim() == 0 || b.dim() == 0) refuse("matmul", "both tensors need at least 1 dimension", {&a, &b});
  const Tensor left = a.dim() == 1 ? unsqueeze(a, 0) : a;
  const Tensor right = b.dim() == 1 ? unsqueeze(b, 1) : b;
  check_inner("matmul", left, right);
  const bool is_plain = left.dim() == 2 && right.dim() == 2;
  Tensor out = is_plain ? multiply_matrices("matmul", left, right) : multiply_batches("matmul", left, right);
  if (b.dim() == 1) out = squeeze(out, -1);
  if (a.dim() == 1) out = squeeze(out, b.dim() == 1 ? -1 : -2);
  return out;
}

Tensor multi_dot(const TensorList& tensors) {
  check_factors(tensors);
  TensorList factors = tensors;
  const bool is_row = factors.front().dim() == 1, is_column = factors.back().dim() == 1;
  if (is_row) factors.front() = unsqueeze(factors.front(), 0);
  if (is_column) factors.back() = unsqueeze(factors.back(), 1);
  std::vector<std::int64_t> sizes{factors.front().size(0)};
  for (std::size_t i = 0; i < factors.size(); ++i) {
    if (i > 0) check_inner("multi_dot", factors[i - 1], factors[i]);
    sizes.push_back(factors[i].size(1));
  }
  Tensor out = ChainOrder(sizes).multiply(factors);
  if (is_column) out = squeeze(out, 1);
  return is_row ? squeeze(out, 0) : out;
}

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  check("linear", x, weight);
  check_rank("linear", weight, 2);
  if (x.dim() == 0 || x.size(-1) != weight.size(1)) {
    refuse("linear",
           "mat1 and mat2 shapes cannot be multiplied (" +
               std::to_string(x.dim() == 0 ? 1 : x.numel() / std::max<std::int64_t>(x.size(-1), 1)) + "x" +
               std::to_string(x.dim() == 0 ? 1 : x.size(-1)) + " and " + std::to_string(weight.size(1)) + "x" +
               std::to_string(weight.size(0)) + ")",
           {&x, &weight});
  }
  Dims sizes = x.sizes();
  sizes[sizes.size() - 1] = weight.size(0);
  const std::int64_t rows = device::count_of(Dims(x.sizes().span().first(x.sizes().size() - 1)));
  check_bias(bias, x, sizes);
  Tensor out = view(multiply_matrices("linear", reshape(x, {rows, x.size(-1)}), t(weight)), sizes);
  return bias.defined() ? add(out, bias) : out;
}

}  // namespace distrun::tensor::plain
