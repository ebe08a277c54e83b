// Every operator of the table has a checked gradient, or a reason to have none; otherwise this test fails. The
// operators of a case are observed while it runs, not derived from its name.
#include <catch2/catch.hpp>

#include <set>

#include <distrun/runtime/autograd/gradient.hpp>
#include <distrun/runtime/autograd/operators/operator_table.hpp>
#include <distrun/runtime/autograd/scope.hpp>

#include "gradient_cases.hpp"

namespace distrun::test {
namespace {

// Operators with results that pass on no gradient, and why.
const std::map<std::string, std::string> kNoGradient = {
    {"eq", "true or false"},
    {"ne", "true or false"},
    {"lt", "true or false"},
    {"le", "true or false"},
    {"gt", "true or false"},
    {"ge", "true or false"},
    {"logical_not", "true or false"},
    {"logical_and", "true or false"},
    {"logical_or", "true or false"},
    {"logical_xor", "true or false"},
    {"isnan", "true or false"},
    {"isinf", "true or false"},
    {"isfinite", "true or false"},
    {"all", "true or false"},
    {"any", "true or false"},
    {"equal", "true or false"},
    {"argmax", "places"},
    {"argmin", "places"},
    {"one_hot", "made of whole numbers"},
    {"nonzero", "places"},
    {"item", "a number"},
    {"size", "a number"},
    {"numel", "a number"},
    {"ones", "made of nothing"},
    {"zeros", "made of nothing"},
    {"rand", "made of nothing"},
    {"randn", "made of nothing"},
    {"arange", "made of nothing"},
    {"linspace", "made of nothing"},
    {"randint", "made of nothing"},
    {"randperm", "made of nothing"},
    {"bernoulli", "chosen by chance"},
    {"ones_like", "made of nothing"},
    {"zeros_like", "made of nothing"},
};

// Operators that are another one with a fixed argument.
const std::map<std::string, std::string> kIsAnother = {{"cpu", "to"}, {"cuda", "to"}, {"flatten", "reshape"}};

// During its lifetime, collects the names of operators that get a tensor with a wanted gradient.
class SeenOperators : public autograd::ScopeHook {
 public:
  SeenOperators() : before_(autograd::set_scope_hook(this)) {}
  ~SeenOperators() override { autograd::set_scope_hook(before_); }
  void* enter(const autograd::Scope& scope) noexcept override {
    if (scope.kind != autograd::ScopeKind::Operator) return nullptr;
    for (const Tensor& input : scope.inputs()) {
      if (requires_grad(input)) names_.emplace(scope.name);
    }
    return nullptr;
  }
  void leave(void*) noexcept override {}
  const std::set<std::string>& names() const noexcept { return names_; }

 private:
  autograd::ScopeHook* before_;
  std::set<std::string> names_;
};

std::set<std::string> checked_operators() {
  const SeenOperators seen;
  for (const auto family : {elementwise_cases, in_place_cases, reduction_cases, normalization_cases, loss_cases,
                            extreme_cases, statistics_cases, indexing_cases, product_cases, matmul_cases, linear_cases,
                            image_cases, embedding_cases, sparse_cases, view_cases, copy_cases, changed_view_cases}) {
    for (const auto& [name, make_case] : family()) {
      RandomTensors random(base::derive_seed(0, name));
      Case made = make_case(random);
      for (Tensor& input : made.inputs) input = set_requires_grad(clone(input));
      made.function(made.inputs);
    }
  }
  return seen.names();
}

}  // namespace

TEST_CASE("every operator of the table has a checked gradient, or a reason why not") {
  const std::set<std::string> checked = checked_operators();
  for (const std::string& name : autograd::operator_names()) {
    const auto another = kIsAnother.find(name);
    const std::string& seen_as = another != kIsAnother.end() ? another->second : name;
    INFO(name);
    CHECK(checked.contains(seen_as) != kNoGradient.contains(name));
  }
  for (const auto& [name, why] : kNoGradient) {
    INFO(name << " has no gradient (" << why << "), and is not in the table");
    CHECK(autograd::find_operator(name) != nullptr);
  }
}

}  // namespace distrun::test
