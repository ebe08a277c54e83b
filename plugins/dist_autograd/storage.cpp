// Storage of a context's gradients: the last node's if nothing else refers to it, otherwise a copy. Makes no calls.
#include "suites.hpp"

using namespace distrun;
using namespace distrun::suites;
using dist_autograd::ContextScope;

namespace {

const std::byte* bytes_of(const Tensor& gradient) {
  return gradient.is_sparse() ? values(gradient).data() : gradient.data();
}

// State of the last gradient that the functions below have seen.
struct Seen {
  const std::byte* bytes = nullptr;
  Tensor indices, values;  // of a sparse gradient, where they are kept
};
PerRank<Seen>& seen() {
  static PerRank<Seen> all;
  return all;
}

struct MyFunc {
  static Tensor forward(FunctionContext& /*context*/, const Tensor& a, const Tensor& b) { return a + b; }
  static TensorList backward(FunctionContext& /*context*/, TensorList gradients) {
    seen().here()->bytes = bytes_of(gradients[0]);
    return {gradients[0], gradients[0]};
  }
};

struct MyFuncSingleGrad {
  static Tensor forward(FunctionContext& /*context*/, const Tensor& x) { return x; }
  static TensorList backward(FunctionContext& /*context*/, TensorList gradients) {
    seen().here()->bytes = bytes_of(gradients[0]);
    return gradients;
  }
};

struct NonContGradFunc {
  static Tensor forward(FunctionContext& /*context*/, const Tensor& /*x*/) { return ones({1}); }
  static TensorList backward(FunctionContext& /*context*/, TensorList /*gradients*/) {
    return {expand(ones({1}), {5, 6})};
  }
};

// Keeps references to the parts of the gradient.
struct KeepsParts {
  static Tensor forward(FunctionContext& /*context*/, const Tensor& x) { return x; }
  static TensorList backward(FunctionContext& /*context*/, TensorList gradients) {
    *seen().here() = {bytes_of(gradients[0]), indices(gradients[0]), values(gradients[0])};
    return gradients;
  }
};

// Its gradients are sparse, with eight entries at index 1.
struct NonContSparseGradFunc {
  static Tensor forward(FunctionContext& /*context*/, const Tensor& a, const Tensor& b) { return a + b; }
  static TensorList backward(FunctionContext& /*context*/, TensorList /*gradients*/) {
    const Tensor places = expand(ones({1, 1}, {.dtype = DType::I64}), {1, 8});
    const Tensor gradient = sparse_coo(places, expand(rand({1, 3}), {8, 3}), {10, 3});
    seen().here()->bytes = bytes_of(gradient);
    return {gradient, gradient};
  }
};

Tensor normal_leaf(const Dims& sizes) { return set_requires_grad(randn(sizes)); }
Tensor first_of_second_row(const Tensor& matrix) { return select(select(matrix, 0, 1), 0, 0); }

// The gradient of the table is sparse.
Tensor sum_of_bags(const Tensor& table) {
  Bags bags;
  bags.indices = from_values<std::int64_t>({1, 2, 4, 5, 4, 3, 2, 9});
  bags.offsets = from_values<std::int64_t>({0, 4});
  return sum(embedding_bag(table, bags, true));
}

dist_autograd::GradientsOfLeaves gradients_of(const ContextScope& context, const Tensor& root) {
  dist_autograd::backward(context.id(), {root}, {.retain_graph = true});
  return dist_autograd::get_gradients(context.id());
}

void pass_ten_times(const ContextScope& context, const Tensor& root) {
  for (int i = 0; i < 10; ++i) dist_autograd::backward(context.id(), {root}, {.retain_graph = true});
}

}  // namespace

DISTRUN_TEST_F(DistAutogradTest, no_grad_copy) {
  const Tensor a = normal_leaf({5, 6}), b = normal_leaf({5, 6});
  {
    const ContextScope context;
    dist_autograd::backward(context.id(), {apply<NonContGradFunc>(apply<MyFunc>(a, b))});
    const auto gradients = dist_autograd::get_gradients(context.id());
    DISTRUN_EXPECT(bytes_of(gradients.at(a)) != seen().here()->bytes);
    DISTRUN_EXPECT(bytes_of(gradients.at(b)) != seen().here()->bytes);
    DISTRUN_EXPECT(what_differs(gradients.at(a), ones({5, 6})) == "");
    DISTRUN_EXPECT(what_differs(gradients.at(b), ones({5, 6})) == "");
  }
  {
    const ContextScope context;
    dist_autograd::backward(context.id(), {first_of_second_row(apply<MyFuncSingleGrad>(a))});
    DISTRUN_EXPECT(bytes_of(dist_autograd::get_gradients(context.id()).at(a)) == seen().here()->bytes);
  }
  {
    const ContextScope context;
    dist_autograd::backward(context.id(), {first_of_second_row(apply<MyFunc>(a, b))});
    const auto gradients = dist_autograd::get_gradients(context.id());
    DISTRUN_EXPECT(bytes_of(gradients.at(a)) != bytes_of(gradients.at(b)));
    DISTRUN_EXPECT(bytes_of(gradients.at(a)) != seen().here()->bytes);
    DISTRUN_EXPECT(bytes_of(gradients.at(b)) != seen().here()->bytes);
  }
}

DISTRUN_TEST_F(DistAutogradTest, grad_copy_sparse_indices_extra_ref) {
  const Tensor a = normal_leaf({10, 3});
  seen().renew();
  const ContextScope context;
  const auto gradients = gradients_of(context, sum_of_bags(apply<KeepsParts>(a)));
  DISTRUN_EXPECT(seen().here()->indices.defined());
  DISTRUN_EXPECT(seen().here()->values.defined());
  DISTRUN_EXPECT(bytes_of(gradients.at(a)) == seen().here()->bytes);
}

DISTRUN_TEST_F(DistAutogradTest, no_grad_copy_sparse) {
  const Tensor a = normal_leaf({10, 3}), b = normal_leaf({10, 3});
  {
    const ContextScope context;
    const Tensor loss = sum_of_bags(apply<MyFuncSingleGrad>(a));
    const Tensor gradient = gradients_of(context, loss).at(a);
    DISTRUN_EXPECT(gradient.is_sparse());
    DISTRUN_EXPECT(bytes_of(gradient) == seen().here()->bytes);
    const Tensor once = to_dense(gradient);
    pass_ten_times(context, loss);
    const Tensor all = dist_autograd::get_gradients(context.id()).at(a);
    DISTRUN_EXPECT(what_differs(to_dense(all), once * 11) == "");
  }
  {
    const ContextScope context;
    const Tensor loss = sum_of_bags(apply<NonContSparseGradFunc>(a, b));
    const auto gradients = gradients_of(context, loss);
    const std::byte* const of_a = bytes_of(gradients.at(a));
    const std::byte* const of_b = bytes_of(gradients.at(b));
    DISTRUN_EXPECT(of_a != of_b);
    DISTRUN_EXPECT(of_a != seen().here()->bytes);
    DISTRUN_EXPECT(of_b != seen().here()->bytes);
    pass_ten_times(context, loss);
    const auto all = dist_autograd::get_gradients(context.id());
    DISTRUN_EXPECT(what_differs(all.at(a), all.at(b)) == "");
  }
}
