#pragma once
// Short forms to write and read small tensors.
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <vector>

#include <distrun/runtime/tensor/core/factories.hpp>

namespace distrun::tensor {

using Floats = std::vector<float>;
using Integers = std::vector<std::int64_t>;
using Flags = std::vector<bool>;

inline constexpr float kNotANumber = std::numeric_limits<float>::quiet_NaN();
inline constexpr float kInfinity = std::numeric_limits<float>::infinity();

inline Tensor f32(std::initializer_list<float> values) { return from_values(values); }
inline Tensor i64(std::initializer_list<std::int64_t> values) { return from_values(values); }
inline Floats floats_of(const Tensor& tensor) { return to_vector<float>(tensor); }
inline Integers integers_of(const Tensor& tensor) { return to_vector<std::int64_t>(tensor); }
inline Flags flags_of(const Tensor& tensor) { return to_vector<bool>(tensor); }

}  // namespace distrun::tensor
