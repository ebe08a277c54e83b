#include <distrun/runtime/autograd/operators/embedding.hpp>

#include <distrun/runtime/autograd/operators/formula_operators.hpp>
#include <distrun/runtime/autograd/operators/indexing.hpp>
#include <distrun/runtime/autograd/scope.hpp>

namespace distrun {
namespace {

using namespace autograd;

// Returns the bag number of each index: the number of bags that begin at or before it, minus one.
Tensor bag_of_each(const Bags& bags) {
  const Tensor begins = tensor::zeros({bags.indices.size(0) + 1}, bags.indices.options());
  const Tensor count = tensor::index_add(begins, 0, bags.offsets, tensor::ones_like(bags.offsets));
  return tensor::sub(tensor::narrow(tensor::cumsum(count, 0), 0, 0, bags.indices.size(0)), 1);
}

// Computes the same gradients with recorded operators: index_select() takes rows, and index_add() returns them.
class RecordedBags {
 public:
  RecordedBags(const Tensor& gradient, const Bags& bags)
      : bags_(bags), rows_(distrun::index_select(gradient, 0, bag_of_each(bags))) {}

  Tensor table_gradient(std::int64_t rows) const {
    const Tensor zeros = tensor::zeros({rows, rows_.size(1)}, rows_.options());
    return distrun::index_add(zeros, 0, bags_.indices, formula::mul(rows_, formula::unsqueeze(shares(), 1)));
  }
  Tensor weights_gradient(const Tensor& table) const {
    return formula::sum(formula::mul(rows_, distrun::index_select(table, 0, bags_.indices)), Dims{1});
  }

 private:
  // Returns the weight of each index in its bag.
  Tensor shares() const {
    if (bags_.weights.defined()) return bags_.weights;
    const Tensor ones = tensor::ones({bags_.indices.size(0)}, rows_.options());
    if (bags_.mode == BagMode::Sum) return ones;
    const Tensor bag = bag_of_each(bags_);
    const Tensor counts = tensor::index_add(tensor::zeros({bags_.offsets.size(0)}, rows_.options()), 0, bag, ones);
    return tensor::div(ones, tensor::index_select(counts, 0, bag));
  }

  const Bags bags_;
  const Tensor rows_;  // the gradient's rows: for each index that of its bag
};

struct EmbeddingBagBackward {
  static constexpr const char* kName = "EmbeddingBagBackward0";
  std::int64_t rows;
  BagMode mode;
  bool is_sparse;
  SavedTensor table, indices, offsets, weights;

  Gradients apply(const Node& node, Gradients gradients) {
    const Tensor& gradient = gradients[0];
    const Bags bags{indices.unpack(node), offsets.unpack(node), mode, weights.unpack(node)};
    if (is_grad_enabled()) return apply_recorded(node, gradient, bags);
    Gradients results(node.next_edges().size());
    if (node.needs(0)) {
      results[0] = is_sparse ? tensor::embedding_bag_sparse_gradient(gradient, bags, rows)
                             : tensor::embedding_bag_gradient(gradient, bags, rows);
    }
    if (node.needs(1)) results[1] = tensor::embedding_bag_weights_gradient(gradient, table.unpack(node), bags);
    return results;
  }
  void release() noexcept {
    for (SavedTensor* saved : {&table, &indices, &offsets, &weights}) saved->release();
  }

 private:
  Gradients apply_recorded(const Node& node, const Tensor& gradient, const Bags& bags) const {
    if (is_sparse) formula::refuse_recording(node, "of sparse tensors: leave sparse_gradient out");
    const RecordedBags recorded(gradient, bags);
    Gradients results(node.next_edges().size());
    if (node.needs(0)) results[0] = recorded.table_gradient(rows);
    if (node.needs(1)) results[1] = recorded.weights_gradient(table.unpack(node));
    return results;
  }
};

}  // namespace

Tensor embedding_bag(const Tensor& table, const Bags& bags, bool sparse_gradient) {
  const OperatorScope scope("embedding_bag", table, bags.indices, bags.offsets, bags.weights);
  Tensor result = tensor::embedding_bag(table, bags);
  if (!needs_gradient(table, bags.weights)) return result;
  EmbeddingBagBackward formula{table.size(0),
                               bags.mode,
                               sparse_gradient,
                               requires_grad(bags.weights) ? SavedTensor(table) : SavedTensor(),
                               SavedTensor(bags.indices),
                               SavedTensor(bags.offsets),
                               SavedTensor(bags.weights)};
  auto node = record(std::move(formula), table);
  if (bags.weights.defined()) node->add_next_edge(gradient_edge(bags.weights));
  return with_history(std::move(result), std::move(node));
}

}  // namespace distrun
