#include <distrun/runtime/autograd/operators/embedding.hpp>

#include <distrun/runtime/autograd/record.hpp>
#include <distrun/runtime/autograd/scope.hpp>

namespace distrun {
namespace {

using namespace autograd;

struct EmbeddingBagBackward {
  static constexpr const char* kName = "EmbeddingBagBackward0";
  std::int64_t rows;
  BagMode mode;
  bool is_sparse;
  SavedTensor table, indices, offsets, weights;

  Gradients apply(const Node& node, Gradients gradients) {
    const Tensor& gradient = gradients[0];
    const Bags bags{indices.unpack(node), offsets.unpack(node), mode, weights.unpack(node)};
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
