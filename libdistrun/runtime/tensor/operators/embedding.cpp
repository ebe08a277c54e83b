#include <distrun/runtime/tensor/operators/embedding.hpp>

#include <algorithm>
#include <vector>

#include <distrun/runtime/tensor/core/copy.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>
#include <distrun/runtime/tensor/core/shape.hpp>
#include <distrun/runtime/tensor/core/views.hpp>
#include <distrun/runtime/tensor/operators/elementwise.hpp>
#include <distrun/runtime/tensor/operators/reduce.hpp>
#include <distrun/runtime/tensor/operators/rows.hpp>
#include <distrun/runtime/tensor/sparse/sparse.hpp>

namespace distrun::tensor::plain {
namespace {

constexpr const char* kName = "embedding_bag";

// Bag and factor of each index; undefined factors are 1.
struct Members {
  Tensor bags;
  Tensor factors;
};

void check_parts(const Tensor& values, const Bags& bags) {
  check_defined(kName, {&values, &bags.indices, &bags.offsets});
  check_dense(kName, {&values, &bags.indices, &bags.offsets});
  check_same_device(kName, {&values, &bags.indices, &bags.offsets});
  check_floating(kName, values);
  check_rank(kName, values, 2);
  const bool are_lists = bags.indices.dim() == 1 && bags.offsets.dim() == 1 && bags.indices.dtype() == DType::I64 &&
                         bags.offsets.dtype() == DType::I64;
  if (!are_lists) refuse(kName, "indices and offsets must be int64 with 1 dimension", {&bags.indices, &bags.offsets});
  if (!bags.weights.defined()) return;
  if (bags.mode != BagMode::Sum) refuse(kName, "per-sample weights are for the mode sum only", {});
  check_dense(kName, {&bags.weights});
  check_same_device(kName, {&values, &bags.weights});
  check_same_dtype(kName, values, bags.weights);
  if (bags.weights.sizes() != bags.indices.sizes()) {
    refuse(kName, "a weight for each index is needed", {&bags.weights, &bags.indices});
  }
}

// Checks that offsets begin with 0, do not decrease, and stay within the indices.
std::vector<std::int64_t> checked_offsets(const Bags& bags) {
  const std::vector<std::int64_t> offsets = to_vector<std::int64_t>(bags.offsets);
  std::int64_t before = 0;
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    if (offsets[i] < before || offsets[i] > bags.indices.numel() || (i == 0 && offsets[0] != 0)) {
      refuse(kName,
             "offsets must begin with 0 and ascend to at most the number of indices, and offset " + std::to_string(i) +
                 " is " + std::to_string(offsets[i]),
             {&bags.indices, &bags.offsets});
    }
    before = offsets[i];
  }
  if (offsets.empty() && bags.indices.numel() > 0)
    refuse(kName, "indices without a bag", {&bags.indices, &bags.offsets});
  return offsets;
}

Members members_of(const Bags& bags, const Tensor& like) {
  const std::vector<std::int64_t> offsets = checked_offsets(bags);
  const std::int64_t count = bags.indices.numel();
  const bool is_mean = bags.mode == BagMode::Mean;
  const Tensor numbers = empty({count}, {DType::I64, device::kCpu});
  const Tensor factors = is_mean ? empty({count}, {DType::F64, device::kCpu}) : Tensor();
  for (std::size_t bag = 0; bag < offsets.size(); ++bag) {
    const std::int64_t begin = offsets[bag], end = bag + 1 < offsets.size() ? offsets[bag + 1] : count;
    const auto fill = [begin, end](auto* data, auto value) { std::fill(data + begin, data + end, value); };
    fill(numbers.data_as<std::int64_t>(), static_cast<std::int64_t>(bag));
    if (is_mean) fill(factors.data_as<double>(), 1.0 / static_cast<double>(end - begin));
  }
  return {to(numbers, like.device()), is_mean ? to(factors, like.options()) : bags.weights};
}

// Returns the row of the gradient for each index.
Tensor rows_of_gradient(const Tensor& gradient, const Members& members, std::int64_t count) {
  const Tensor rows = take_rows(gradient, members.bags);
  return members.factors.defined() ? mul(rows, view(contiguous(members.factors), {count, 1})) : rows;
}

void check_gradient(const Tensor& gradient, const Bags& bags) {
  check_parts(gradient, bags);
  if (gradient.size(0) != bags.offsets.numel()) {
    refuse(kName, "the gradient has not a row for each bag", {&gradient, &bags.offsets});
  }
}

}  // namespace

Tensor embedding_bag(const Tensor& table, const Bags& bags) {
  check_parts(table, bags);
  check_rows(kName, bags.indices, table.size(0));
  const Members members = members_of(bags, table);
  const Tensor out = zeros({bags.offsets.numel(), table.size(1)}, table.options());
  add_taken_rows_(out, members.bags, table, bags.indices, members.factors);
  return out;
}

Tensor embedding_bag_gradient(const Tensor& gradient, const Bags& bags, std::int64_t rows) {
  check_gradient(gradient, bags);
  check_rows(kName, bags.indices, rows);
  const Tensor out = zeros({rows, gradient.size(1)}, gradient.options());
  const Members members = members_of(bags, gradient);
  add_taken_rows_(out, bags.indices, gradient, members.bags, members.factors);
  return out;
}

Tensor embedding_bag_sparse_gradient(const Tensor& gradient, const Bags& bags, std::int64_t rows) {
  check_gradient(gradient, bags);
  const Tensor values = rows_of_gradient(gradient, members_of(bags, gradient), bags.indices.numel());
  return sparse_coo(unsqueeze(bags.indices, 0), values, {rows, gradient.size(1)});
}

Tensor embedding_bag_weights_gradient(const Tensor& gradient, const Tensor& table, const Bags& bags) {
  check_gradient(gradient, bags);
  check_parts(table, bags);
  check_rows(kName, bags.indices, table.size(0));
  if (gradient.size(1) != table.size(1)) refuse(kName, "the gradient is not as wide as the table", {&gradient, &table});
  const Members members = members_of(bags, table);
  return sum(mul(take_rows(gradient, members.bags), take_rows(table, bags.indices)), {1});
}

}  // namespace distrun::tensor::plain
