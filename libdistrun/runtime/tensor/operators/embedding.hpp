#pragma once
// Rows of a table, added up by bags. Indices int64 [n]; offsets int64 [bags]: where each bag begins among them.
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::tensor {

enum class BagMode : std::uint8_t { Sum, Mean };

// One lookup, forward and backward alike.
struct Bags {
  Tensor indices;
  Tensor offsets;
  BagMode mode = BagMode::Mean;
  Tensor weights;  // a factor for each index, with mode Sum only; undefined: 1
};

namespace plain {

// [bags, width] for a table [rows, width]; an empty bag is 0. Throws Error{InvalidArgument} for indices or offsets out
// of range; to see them it waits for the device.
Tensor embedding_bag(const Tensor& table, const Bags& bags);
// Of the table: dense, or sparse with one entry for each index.
Tensor embedding_bag_gradient(const Tensor& gradient, const Bags& bags, std::int64_t rows);
Tensor embedding_bag_sparse_gradient(const Tensor& gradient, const Bags& bags, std::int64_t rows);
// Of the factors.
Tensor embedding_bag_weights_gradient(const Tensor& gradient, const Tensor& table, const Bags& bags);

}  // namespace plain
}  // namespace distrun::tensor
