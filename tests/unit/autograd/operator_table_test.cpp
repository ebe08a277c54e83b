#include <algorithm>

#include <catch2/catch.hpp>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/autograd/backward.hpp>
#include <distrun/runtime/autograd/gradient.hpp>
#include <distrun/runtime/autograd/operators/all.hpp>
#include <distrun/runtime/autograd/operators/operator_table.hpp>
#include <distrun/runtime/autograd/scope.hpp>

#include "support/gpus.hpp"

#include "sound_arguments.hpp"

namespace distrun {
namespace {

using autograd::call_operator;
using namespace test;

Value call(std::string_view name, std::vector<Value> arguments) { return call_operator(name, arguments); }
Tensor tensor_of(const Value& value) { return std::get<Tensor>(value); }

bool takes_tensors(const Overload& overload) {
  const auto is_tensor = [](Parameter each) { return each == Parameter::Tensor || each == Parameter::Tensors; };
  return std::any_of(overload.parameters.begin(), overload.parameters.end(), is_tensor);
}

// During its lifetime, keeps the name of the first operator that is observed.
class FirstOperator : public autograd::ScopeHook {
 public:
  FirstOperator() : before_(autograd::set_scope_hook(this)) {}
  ~FirstOperator() override { autograd::set_scope_hook(before_); }
  void* enter(const autograd::Scope& scope) noexcept override {
    if (name_.empty()) name_ = scope.name;
    return nullptr;
  }
  void leave(void*) noexcept override {}
  std::string_view name() const noexcept { return name_; }

 private:
  autograd::ScopeHook* before_;
  std::string_view name_;
};

}  // namespace

TEST_CASE("operators are called by name, and the arguments choose the overload") {
  const Tensor a = ones({2, 2});
  CHECK(equal(tensor_of(call("add", {a, a})), full({2, 2}, 2.0)));
  CHECK(equal(tensor_of(call("add", {a, a, Int{3}})), full({2, 2}, 4.0)));
  CHECK(equal(tensor_of(call("add", {a, 0.5})), full({2, 2}, 1.5)));
  CHECK(std::get<Int>(call("add", {Int{1}, Int{1}})) == 2);
  CHECK(equal(tensor_of(call("sum", {a, IntList{0}})), full({2}, 2.0)));
  CHECK(equal(tensor_of(call("stack", {TensorList{a, a}})), ones({2, 2, 2})));
  CHECK(std::get<TensorList>(call("split", {ones({10, 2}), Int{2}})).size() == 5);
  CHECK(equal(tensor_of(call("linear", {a, a})), full({2, 2}, 2.0)));
  CHECK(equal(tensor_of(call("ones", {IntList{2, 2}})), a));
  CHECK(std::get<bool>(call("equal", {a, a})));
  CHECK(std::get<double>(call("item", {ones({1})})) == 1);
}

TEST_CASE("operators that are called by name are recorded") {
  const Tensor a = set_requires_grad(ones({2, 2}));
  backward(sum(tensor_of(call("mul", {a, Int{3}}))));
  CHECK(equal(grad(a), full({2, 2}, 3.0)));
}

TEST_CASE("an unknown operator, and arguments that no overload takes, are reported as such") {
  CHECK_THROWS_WITH(call("no_such", {}), "there is no operator named no_such");
  CHECK_THROWS_WITH(call("matmull", {}), "there is no operator named matmull; did you mean matmul?");
  CHECK_THROWS_WITH(call("mul", {ones({1}), std::string("two")}),
                    "operator mul does not take (Tensor, str); it takes (Tensor, Tensor) or (Tensor, number)");
  CHECK_THROWS_WITH(
      call("sum", {}),
      "operator sum does not take (); it takes (Tensor) or (Tensor, int[], bool = false) or (Tensor, int, bool "
      "= false)");
  CHECK_THROWS_WITH(call("add", {ones({1})}),
                    "operator add does not take (Tensor); it takes (Tensor, Tensor, number = 1) or (Tensor, number, "
                    "number = 1) or (number, number)");
  try {
    call("nothing", {});
  } catch (const Error& error) {
    CHECK(error.type() == "AttributeError");
  }
}

TEST_CASE("profilers see each operator under its name in the table") {
  testing::use_gpus();
  for_each_overload([](const std::string& name, const autograd::Operator& entry, const Overload& overload) {
    const std::vector<Value> arguments = sound_arguments(name, overload);
    const FirstOperator first;
    overload.run(arguments);
    // Without a gradient or a tensor it may call a plain function.
    const bool is_plain = !entry.no_gradient.empty() || !takes_tensors(overload);
    if (is_plain && first.name().empty()) return;
    CHECK(first.name() == (entry.recorded_as.empty() ? name : entry.recorded_as));
  });
}

TEST_CASE("the table has the operators that tests call over RPC") {
  for (const char* name : {"add", "sub", "mul", "div", "matmul", "bmm", "cos", "stack", "split", "multi_dot", "sum",
                           "relu", "sigmoid", "clamp_min", "narrow", "to_dense", "add_", "mul_", "div_"}) {
    INFO(name);
    CHECK(autograd::find_operator(name) != nullptr);
  }
  CHECK(autograd::operator_names().size() > 50);
}

}  // namespace distrun
