// Every operator of the table has a checked gradient, or a reason in its entry; otherwise this test fails. The
// operators of a case are observed while it runs, not derived from its name.
#include <catch2/catch.hpp>

#include <set>

#include <distrun/runtime/autograd/gradient.hpp>
#include <distrun/runtime/autograd/operators/operator_list.hpp>
#include <distrun/runtime/autograd/scope.hpp>

#include "gradient_cases.hpp"
#include "sound_arguments.hpp"

namespace distrun::test {
namespace {

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
  for (const auto& [name, entry] : autograd::operator_list()) {
    const std::string seen_as(entry.recorded_as.empty() ? name : entry.recorded_as);
    INFO(name << ": " << entry.no_gradient);
    CHECK(checked.contains(seen_as) == entry.no_gradient.empty());
  }
}

TEST_CASE("an operator with a reason to have no gradient has results that need none") {
  for_each_overload([](const std::string& name, const autograd::Operator& entry, const Overload& overload) {
    if (entry.no_gradient.empty()) return;
    const Value result = overload.run(recorded_arguments(sound_arguments(name, overload)));
    if (const auto* tensor = std::get_if<Tensor>(&result)) CHECK_FALSE(requires_grad(*tensor));
  });
}

}  // namespace distrun::test
