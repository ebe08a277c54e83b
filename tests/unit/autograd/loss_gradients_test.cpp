#include <catch2/catch.hpp>

#include <distrun/runtime/autograd/backward.hpp>
#include <distrun/runtime/autograd/gradient.hpp>

#include "gradient_cases.hpp"

namespace distrun::test {
namespace {

// Returns a class for each sample of [n, classes, ...]; the same for all inputs of these sizes.
Tensor classes_for(const Tensor& input) {
  Dims sizes = input.sizes();
  const std::int64_t classes = sizes[1];
  sizes.erase(1);
  std::vector<std::int64_t> truth;
  for (std::int64_t i = 0; i < device::count_of(sizes); ++i) truth.push_back(i * 7 % classes);
  return to(tensor::from_values<std::int64_t>(truth, sizes), input.device());
}

Tensor weights_for(const Tensor& input) {
  std::vector<double> weights;
  for (std::int64_t i = 0; i < input.size(1); ++i) weights.push_back(0.5 + static_cast<double>(i));
  return to(tensor::from_values<double>(weights, {input.size(1)}), input.device());
}

MakeCase of_samples(std::function<Tensor(const Tensor&)> loss) {
  return sized(
      [](auto n, auto k, auto m, auto) {
        return Sizes{{n + 1, k + 2, m + 1}};
      },
      [loss](auto& in) { return one(loss(in[0])); });
}

}  // namespace

Cases loss_cases() {
  return {
      {"cross_entropy", of_samples([](auto& x) { return cross_entropy(x, classes_for(x)); })},
      {"cross_entropy of vectors", sized(
                                       [](auto n, auto k, auto, auto) {
                                         return Sizes{{n + 1, k + 1}};
                                       },
                                       [](auto& in) { return one(cross_entropy(in[0], classes_for(in[0]))); })},
      {"cross_entropy, weighted, smoothed, without a class", of_samples([](auto& x) {
         return cross_entropy(x, classes_for(x), {weights_for(x), 1, Reduction::Mean, 0.2});
       })},
      {"cross_entropy, smoothed, added up", of_samples([](auto& x) {
         return cross_entropy(x, classes_for(x), {{}, -100, Reduction::Sum, 0.5});
       })},
      {"cross_entropy of each", of_samples([](auto& x) {
         return cross_entropy(x, classes_for(x), {weights_for(x), 0, Reduction::None, 0.1});
       })},
      {"nll_loss", of_samples([](auto& x) { return nll_loss(x, classes_for(x)); })},
      {"nll_loss, weighted, without a class", of_samples([](auto& x) {
         return nll_loss(x, classes_for(x), {weights_for(x), 1, Reduction::Mean});
       })},
      {"nll_loss of each", of_samples([](auto& x) {
         return nll_loss(x, classes_for(x), {{}, 0, Reduction::None});
       })},
  };
}

TEST_CASE("gradients of losses of classes are those of central differences") { check_on_all_devices(loss_cases()); }

}  // namespace distrun::test
