#pragma once
// Sums rows of a table by bags. Indices are int64 [n]; offsets are int64 [bags], the begin of each bag in the indices.
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::tensor {

// What becomes of a bag's rows.
enum class BagMode : std::uint8_t { Sum, Mean };

// Describes a lookup, for forward and backward.
struct Bags {
  Tensor indices;                // int64 [n]: rows of the table
  Tensor offsets;                // int64 [bags]: the first index of each
  BagMode mode = BagMode::Mean;  // Sum or Mean
  Tensor weights;                // a factor per index, mode Sum only; undefined: 1
};

namespace plain {

// Returns [bags, width] for a table [rows, width]; an empty bag gives 0. Throws Error{InvalidArgument} for indices or
// offsets out of range; waits for the device to check them.
Tensor embedding_bag(const Tensor& table, const Bags& bags);
// Returns the table's gradient, dense: [rows, width].
Tensor embedding_bag_gradient(const Tensor& gradient, const Bags& bags, std::int64_t rows);
// Returns the table's gradient, sparse with one entry per index.
Tensor embedding_bag_sparse_gradient(const Tensor& gradient, const Bags& bags, std::int64_t rows);
// Returns the gradient of the factors.
Tensor embedding_bag_weights_gradient(const Tensor& gradient, const Tensor& table, const Bags& bags);

}  // namespace plain
}  // namespace distrun::tensor
