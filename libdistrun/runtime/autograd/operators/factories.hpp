#pragma once
// Creation of tensors: uninitialised, from numbers, random. They are leaves and need no gradient; see
// set_requires_grad().
#include <distrun/runtime/tensor/core/factories.hpp>
#include <distrun/runtime/tensor/operators/nonzero.hpp>
#include <distrun/runtime/tensor/operators/random.hpp>
#include <distrun/runtime/tensor/operators/random_choices.hpp>
#include <distrun/runtime/tensor/operators/ranges.hpp>

namespace distrun {

using enum tensor::DType;  // F32, I64: ones({2}, F64)

using tensor::arange;
using tensor::bernoulli;
using tensor::empty;
using tensor::empty_like;
using tensor::from_data;
using tensor::from_values;
using tensor::full;
using tensor::full_like;
using tensor::linspace;
using tensor::manual_seed;
using tensor::nonzero;
using tensor::ones;
using tensor::ones_like;
using tensor::rand;
using tensor::randint;
using tensor::randn;
using tensor::randperm;
using tensor::scalar_tensor;
using tensor::to_vector;
using tensor::zeros;
using tensor::zeros_like;

}  // namespace distrun
