#include <catch2/catch.hpp>

#include "gradient_cases.hpp"

namespace distrun::test {

Cases reduction_cases() {
  return {
      {"sum", unary([](auto& a) { return sum(a); })},
      {"sum over a dimension", unary([](auto& a) { return sum(a, {-1}); }, 1)},
      {"sum over dimensions that stay", unary(
                                            [](auto& a) {
                                              return sum(a, {0, -1}, true);
                                            },
                                            2)},
      {"sum over all dimensions", unary([](auto& a) { return sum(a, Dims{}, true); })},
      {"mean", sized(
                   [](auto n, auto k, auto, auto) {
                     return Sizes{{n + 1, k + 1}};
                   },
                   [](auto& in) { return one(mean(in[0])); })},
      {"mse_loss", sized(
                       [](auto n, auto k, auto, auto) {
                         return Sizes{{n + 1, k + 1}, {n + 1, k + 1}};
                       },
                       [](auto& in) { return one(mse_loss(in[0], in[1])); })},
  };
}

namespace {

// Batches of k channels, with more than one element for each.
Sizes batch(std::int64_t n, std::int64_t k, std::int64_t m) { return {{n + 2, k + 1, m + 1}, {k + 1}, {k + 1}}; }

}  // namespace

Cases normalization_cases() {
  return {
      {"softmax", unary([](auto& a) { return softmax(a, -1); }, 1)},
      {"softmax over the first dimension", unary([](auto& a) { return softmax(a, 0); }, 1)},
      {"log_softmax", unary([](auto& a) { return log_softmax(a, -1); }, 1)},
      {"log_softmax over the first dimension", unary([](auto& a) { return log_softmax(a, 0); }, 1)},
      {"layer_norm", sized(
                         [](auto n, auto k, auto, auto) {
                           return Sizes{{n, k + 2}, {k + 2}, {k + 2}};
                         },
                         [](auto& in) { return one(layer_norm(in[0], in[1].sizes(), in[1], in[2], 0.1)); })},
      {"layer_norm over two dimensions",
       sized(
           [](auto n, auto k, auto m, auto) {
             return Sizes{{n, k, m + 1}, {k, m + 1}};
           },
           [](auto& in) { return one(layer_norm(in[0], in[1].sizes(), in[1], {}, 0.1)); })},
      {"layer_norm without weight and bias",
       sized(
           [](auto n, auto k, auto, auto) {
             return Sizes{{n, k + 2}};
           },
           [](auto& in) { return one(layer_norm(in[0], {in[0].size(1)}, {}, {}, 0.1)); })},
      {"batch_norm", sized([](auto n, auto k, auto m, auto) { return batch(n, k, m); },
                           [](auto& in) { return one(batch_norm(in[0], in[1], in[2], 0.1)); })},
      {"batch_norm without weight and bias", sized(
                                                 [](auto n, auto k, auto, auto) {
                                                   return Sizes{{n + 2, k + 1}};
                                                 },
                                                 [](auto& in) { return one(batch_norm(in[0], {}, {}, 0.1)); })},
      {"batch_norm with moments that are given", sized([](auto n, auto k, auto m, auto) { return batch(n, k, m); },
                                                       [](auto& in) {
                                                         const Dims channels{in[0].size(1)};
                                                         const tensor::Moments given{
                                                             tensor::full(channels, 0.5, in[0].options()),
                                                             tensor::full(channels, 2, in[0].options())};
                                                         return one(batch_norm(in[0], given, in[1], in[2], 0.1, {}));
                                                       })},
  };
}

Cases product_cases() {
  const Function chain = [](auto& in) { return one(multi_dot(in)); };
  return {
      {"mm", sized(
                 [](auto n, auto k, auto m, auto) {
                   return Sizes{{n, k}, {k, m}};
                 },
                 [](auto& in) { return one(mm(in[0], in[1])); })},
      {"bmm", sized(
                  [](auto n, auto k, auto m, auto l) {
                    return Sizes{{l, n, k}, {l, k, m}};
                  },
                  [](auto& in) { return one(bmm(in[0], in[1])); })},
      {"multi_dot", sized(
                        [](auto n, auto k, auto m, auto l) {
                          return Sizes{{n, k}, {k, m}, {m, l}, {l, 2}};
                        },
                        chain)},
      {"multi_dot of two", sized(
                               [](auto n, auto k, auto m, auto) {
                                 return Sizes{{n, k}, {k, m}};
                               },
                               chain)},
      {"multi_dot between vectors", sized(
                                        [](auto n, auto k, auto, auto) {
                                          return Sizes{{n}, {n, k}, {k}};
                                        },
                                        chain)},
  };
}

Cases matmul_cases() {
  const Function times = [](auto& in) { return one(matmul(in[0], in[1])); };
  return {
      {"matmul of vectors", sized(
                                [](auto n, auto, auto, auto) {
                                  return Sizes{{n}, {n}};
                                },
                                times)},
      {"matmul of a row", sized(
                              [](auto n, auto k, auto, auto) {
                                return Sizes{{n}, {n, k}};
                              },
                              times)},
      {"matmul of a column", sized(
                                 [](auto n, auto k, auto, auto) {
                                   return Sizes{{n, k}, {k}};
                                 },
                                 times)},
      {"matmul of matrices", sized(
                                 [](auto n, auto k, auto m, auto) {
                                   return Sizes{{n, k}, {k, m}};
                                 },
                                 times)},
      {"matmul of a batch by a matrix", sized(
                                            [](auto n, auto k, auto m, auto l) {
                                              return Sizes{{l, n, k}, {k, m}};
                                            },
                                            times)},
      {"matmul of a row by a batch", sized(
                                         [](auto, auto k, auto m, auto l) {
                                           return Sizes{{k}, {l, k, m}};
                                         },
                                         times)},
      {"matmul of a batch by a column", sized(
                                            [](auto n, auto k, auto, auto l) {
                                              return Sizes{{l, n, k}, {k}};
                                            },
                                            times)},
      {"matmul of batches that stretch", sized(
                                             [](auto n, auto k, auto m, auto l) {
                                               return Sizes{{l, 1, n, k}, {2, k, m}};
                                             },
                                             times)},
  };
}

Cases linear_cases() {
  const Function layer = [](auto& in) { return one(linear(in[0], in[1], in.size() > 2 ? in[2] : Tensor())); };
  return {
      {"linear", sized(
                     [](auto n, auto k, auto m, auto) {
                       return Sizes{{n, k}, {m, k}, {m}};
                     },
                     layer)},
      {"linear without a bias", sized(
                                    [](auto n, auto k, auto m, auto) {
                                      return Sizes{{n, k}, {m, k}};
                                    },
                                    layer)},
      {"linear of a batch", sized(
                                [](auto n, auto k, auto m, auto l) {
                                  return Sizes{{l, n, k}, {m, k}, {m}};
                                },
                                layer)},
      {"linear of a vector", sized(
                                 [](auto, auto k, auto m, auto) {
                                   return Sizes{{k}, {m, k}, {m}};
                                 },
                                 layer)},
  };
}

Cases image_cases() {
  return {
      {"conv2d", sized(
                     [](auto n, auto, auto, auto l) {
                       return Sizes{{l, 2, n + 2, 5}, {3, 2, 2, 3}, {3}};
                     },
                     [](auto& in) { return one(conv2d(in[0], in[1], in[2])); })},
      {"conv2d with stride and padding", sized(
                                             [](auto n, auto, auto, auto l) {
                                               return Sizes{{l, 1, 4, n + 3}, {2, 1, 3, 2}};
                                             },
                                             [](auto& in) {
                                               return one(conv2d(in[0], in[1], {}, {{2, 1}, {1, 0}}));
                                             })},
      {"max_pool2d", sized(
                         [](auto n, auto, auto, auto l) {
                           return Sizes{{l, 2, 4, n + 2}};
                         },
                         [](auto& in) { return one(max_pool2d(in[0])); })},
      {"max_pool2d with stride and padding", sized(
                                                 [](auto n, auto, auto, auto) {
                                                   return Sizes{{1, 2, n + 3, 5}};
                                                 },
                                                 [](auto& in) {
                                                   return one(max_pool2d(in[0], {{3, 2}, {2, 1}, {1, 1}}));
                                                 })},
  };
}

TEST_CASE("gradients of sums and losses are those of central differences") { check_on_all_devices(reduction_cases()); }
TEST_CASE("gradients of normalizing operators are those of central differences") {
  check_on_all_devices(normalization_cases());
}
TEST_CASE("gradients of matmul are those of central differences") { check_on_all_devices(matmul_cases()); }
TEST_CASE("gradients of products are those of central differences") { check_on_all_devices(product_cases()); }
TEST_CASE("gradients of linear layers are those of central differences") { check_on_all_devices(linear_cases()); }
TEST_CASE("gradients of operators on images are those of central differences") { check_on_all_devices(image_cases()); }

}  // namespace distrun::test
