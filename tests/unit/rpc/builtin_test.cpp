// Operators called by remote workers.
#include <catch2/catch.hpp>

#include <distrun/runtime/rpc/calls/builtin.hpp>
#include <distrun/runtime/rpc/functions/operators.hpp>
#include <distrun/runtime/rpc/values/convert.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>
#include <distrun/runtime/tensor/sparse/sparse.hpp>

#include "support/error_of.hpp"
#include "support/gpus.hpp"

namespace distrun::rpc {
namespace {

Value tensor_value(const Tensor& tensor) { return Value(Tensor(tensor)); }
Error refusal(const std::string& name, const Arguments& arguments) {
  return testing::error_of([&] { run_builtin(name, arguments); });
}

TEST_CASE("operators take tensors and numbers, and lists of them") {
  const Value two = tensor_value(tensor::full({2}, 2));
  const Value sum = run_builtin("add", {{two, to_value(1)}, {}});
  CHECK(tensor::to_vector<float>(*sum.get_if<Tensor>()) == std::vector<float>{3, 3});
  const Value all = run_operator("cat", std::vector<Value>{Value(List{{two, two}})});
  CHECK(all.get_if<Tensor>()->sizes() == Dims{4});
  CHECK(run_operator("ones", std::vector<Value>{Value(Tuple{{to_value(2), to_value(3)}})}).get_if<Tensor>()->sizes() ==
        Dims{2, 3});
  CHECK(is_operator("add"));
  CHECK_FALSE(is_operator("no_operator"));
}

TEST_CASE("operators refuse arguments of wrong types, and say what they take") {
  const Value one = tensor_value(tensor::ones({2})), other = tensor_value(tensor::ones({3}));
  const Error schema = refusal("add", {{one}, {}});
  CHECK(schema.kind() == ErrorKind::InvalidArgument);
  CHECK(schema.type() == "RuntimeError");
  CHECK_THAT(schema.text(), Catch::StartsWith("Overloaded torch operator invoked from Python failed to match any "
                                              "schema: operator add takes "));
  CHECK_THAT(refusal("add", {{one}, {{"b", other}}}).text(), Catch::Contains("takes no arguments by name, and takes "));
  CHECK(refusal("add", {{one, other}, {}}).type() == "RuntimeError");
  const Error kind = refusal("add", {{to_value(std::map<int, int>()), one}, {}});
  CHECK(kind.type() == "TypeError");
  CHECK(kind.text() == "unsupported operand type(s) for +: 'map' and 'Tensor'");
  CHECK_THROWS_AS(run_builtin("no_operator", {{one}, {}}), Error);
}

TEST_CASE("calls of operators on small tensors are executed where the call is read") {
  testing::use_gpus();
  const Value small = tensor_value(tensor::ones({1000})), large = tensor_value(tensor::ones({4097}));
  CHECK(is_small({small, to_value(1), to_value("text"), Value()}));
  CHECK(is_small({small, small, small, small}));
  CHECK_FALSE(is_small({small, small, small, small, small}));
  CHECK_FALSE(is_small({large}));
  CHECK_FALSE(is_small({tensor_value(Tensor())}));
  CHECK_FALSE(is_small({tensor_value(tensor::empty_sparse({2}, {}, 1))}));
  CHECK_FALSE(is_small({tensor_value(tensor::ones({1}, {tensor::DType::F32, device::cuda(0)}))}));
  CHECK_FALSE(is_small({Value(List{{small}})}));
}

}  // namespace
}  // namespace distrun::rpc
