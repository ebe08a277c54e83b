#pragma once
// Tensors of every kind that an operator might not expect, and defects of otherwise suitable ones.
#include <cstdint>

#include <distrun/runtime/autograd/gradient.hpp>
#include <distrun/runtime/autograd/operators/all.hpp>
#include <distrun/runtime/tensor/core/views.hpp>

namespace distrun::test {

using tensor::DType;
using Int = std::int64_t;

inline Tensor leaf_with(const Dims& sizes) { return set_requires_grad(full(sizes, 0.5)); }
inline Tensor sparse_indices(const Dims& sizes) { return zeros(sizes, {DType::I64}); }
inline Tensor sparse_of(const Dims& indices, const Dims& values, const Dims& sizes) {
  return sparse_coo(sparse_indices(indices), ones(values), sizes);
}

// Tensors of every kind that an operator might not expect.
inline Tensor (*const kOddTensors[])() = {
    [] { return Tensor(); },
    [] { return ones({}); },
    [] { return ones({2}); },
    [] {
      return ones({2, 3});
    },
    [] {
      return ones({3, 2}, {DType::F64});
    },
    [] {
      return ones({2, 3, 2});
    },
    [] {
      return ones({1, 2, 4, 4});
    },
    [] {
      return ones({2, 2, 1, 2});
    },
    [] { return zeros({0}); },
    [] {
      return zeros({0, 3});
    },
    [] {
      return zeros({2, 0, 3});
    },
    [] {
      return zeros({0, 2, 4, 4});
    },
    [] {
      return zeros({1, 2, 0, 4});
    },
    [] { return arange(4); },
    [] { return tensor::from_values<Int>({0}); },
    [] {
      return tensor::from_values<Int>({0, -1, 7});
    },
    [] {
      return tensor::from_values<Int>({0, 1, 1, 0}, {2, 2});
    },
    [] {
      return tensor::from_values<Int>({INT64_MIN, INT64_MAX});
    },
    [] { return tensor::scalar_tensor(true); },
    [] {
      return ones({2, 3}, {DType::Bool});
    },
    [] { return full({3}, 200, {DType::U8}); },
    [] { return ones({2}, {DType::I8}); },
    [] {
      return full({2, 3}, std::numeric_limits<double>::quiet_NaN());
    },
    [] {
      return tensor::transpose(ones({2, 3}), 0, 1);
    },
    [] {
      return tensor::expand(ones({3, 1}), {3, 2});
    },
    [] {
      return tensor::expand(zeros({0, 1}), {0, INT64_MAX});
    },
    [] {
      return tensor::as_strided(arange(8), {2, 2}, {3, 1}, 1);
    },
    [] {
      return tensor::as_strided(ones({4}), {3, 2}, {1, 1}, 0);
    },
    [] { return tensor::as_strided(ones({4}), {4}, {-1}, 3); },
    [] { return ones(Dims(Dims::kMost, 1)); },
    [] { return leaf_with({}); },
    [] {
      return leaf_with({2, 3});
    },
    [] {
      return leaf_with({3, 2});
    },
    [] {
      return leaf_with({1, 2, 4, 4});
    },
    [] {
      return leaf_with({0, 3});
    },
    [] {
      return mul(leaf_with({2, 3}), 2);
    },
    [] {
      return select(distrun::mul(leaf_with({2, 3}), 2), 0, 1);
    },
    [] {
      return sparse_of({1, 3}, {3}, {4});
    },
    [] {
      return sparse_of({2, 3}, {3}, {2, 3});
    },
    [] {
      return sparse_of({1, 2}, {2, 3}, {2, 3});
    },
    [] {
      return sparse_of({2, 0}, {0}, {2, 3});
    },
    [] {
      return sparse_of({1, 0}, {0, 3}, {0, 3});
    },
    [] {
      return sparse_of({0, 2}, {2, 3}, {3});
    },
    [] {
      return sparse_of({1, 1}, {1}, {Int{1} << 60});
    },
    [] {
      return coalesce(sparse_of({2, 3}, {3}, {2, 3}));
    },
    [] {
      return set_requires_grad(sparse_of({2, 3}, {3}, {2, 3}));
    },
    [] {
      return to(ones({2, 3}), device::cuda(0));
    },
    [] {
      return to(sparse_of({2, 3}, {3}, {2, 3}), device::cuda(1));
    },
};

// Changes that make a suitable tensor unsuitable.
inline Tensor (*const kChanges[])(const Tensor&) = {
    [](const Tensor& tensor) { return clone(tensor); },
    [](const Tensor& tensor) { return set_requires_grad(clone(tensor)); },
    [](const Tensor& tensor) { return add(set_requires_grad(clone(tensor)), 1); },
    [](const Tensor& tensor) { return to(tensor, DType::F64); },
    [](const Tensor& tensor) { return to(tensor, DType::I64); },
    [](const Tensor& tensor) { return to(tensor, DType::Bool); },
    [](const Tensor& tensor) { return to(tensor, device::cuda(0)); },
    [](const Tensor& tensor) { return clone(transpose(tensor, 0, -1)); },
    [](const Tensor& tensor) { return transpose(clone(transpose(tensor, 0, -1)), 0, -1); },
    [](const Tensor& tensor) { return mul(tensor, 3); },
    [](const Tensor& tensor) { return unsqueeze(tensor, 0); },
    [](const Tensor& tensor) { return select(tensor, -1, 0); },
    [](const Tensor& tensor) { return narrow(tensor, 0, 0, 1); },
    [](const Tensor& tensor) { return narrow(tensor, -1, 0, 0); },
    [](const Tensor& tensor) {
      return cat({tensor, tensor}, -1);
    },
    [](const Tensor& tensor) { return expand(narrow(tensor, 0, 0, 1), tensor.sizes()); },
};

}  // namespace distrun::test
