// Binding arguments to parameters, with the usual error texts.
#include <catch2/catch.hpp>

#include <distrun/runtime/rpc/functions/function.hpp>
#include <distrun/runtime/rpc/values/convert.hpp>

#include "support/error_of.hpp"

namespace distrun::rpc {
namespace {

Signature signature_of(const std::vector<std::string>& names) {
  Signature signature{"f", {}};
  for (const std::string& name : names) signature.parameters.push_back({name, "int"});
  return signature;
}

Arguments passed(const std::vector<int>& positional, const std::vector<std::pair<std::string, int>>& named = {}) {
  Arguments arguments;
  for (const int each : positional) arguments.positional.push_back(to_value(each));
  for (const auto& [name, each] : named) arguments.named.emplace_back(name, to_value(each));
  return arguments;
}

std::vector<int> bound(const std::vector<std::string>& names, Arguments arguments) {
  return from_value<std::vector<int>>(Value(List{bind_arguments(signature_of(names), std::move(arguments))}));
}

std::string binding_refusal(const std::vector<std::string>& names, Arguments arguments) {
  const Error error = testing::error_of([&] { bind_arguments(signature_of(names), std::move(arguments)); });
  CHECK(error.kind() == ErrorKind::InvalidArgument);
  CHECK(error.type() == "TypeError");
  return error.text();
}

TEST_CASE("arguments arrive in the order of the parameters, however they are passed") {
  CHECK(bound({}, passed({})).empty());
  CHECK(bound({"a", "b"}, passed({1, 2})) == std::vector{1, 2});
  CHECK(bound({"a", "b"}, passed({1}, {{"b", 2}})) == std::vector{1, 2});
  CHECK(bound({"a", "b", "c"}, passed({}, {{"c", 3}, {"a", 1}, {"b", 2}})) == std::vector{1, 2, 3});
}

TEST_CASE("too many arguments are refused") {
  CHECK(binding_refusal({}, passed({1})) == "f() takes 0 positional arguments but 1 was given");
  CHECK(binding_refusal({"a"}, passed({1, 2})) == "f() takes 1 positional argument but 2 were given");
  CHECK(binding_refusal({"a", "b"}, passed({1, 2, 3}, {{"a", 1}})) ==
        "f() takes 2 positional arguments but 3 were given");
}

TEST_CASE("missing arguments are named") {
  CHECK(binding_refusal({"a"}, passed({})) == "f() missing 1 required positional argument: 'a'");
  CHECK(binding_refusal({"a", "b", "c"}, passed({1})) == "f() missing 2 required positional arguments: 'b' and 'c'");
  CHECK(binding_refusal({"a", "b", "c"}, passed({})) ==
        "f() missing 3 required positional arguments: 'a', 'b', and 'c'");
  CHECK(binding_refusal({"a", "b"}, passed({}, {{"b", 2}})) == "f() missing 1 required positional argument: 'a'");
}

TEST_CASE("optional parameters may be left out, and are empty then") {
  Signature signature = signature_of({"a", "b", "c"});
  signature.parameters[1].is_optional = true;
  const ValueList all = bind_arguments(signature, passed({1}, {{"c", 3}}));
  REQUIRE(all.size() == 3);
  CHECK(from_value<std::optional<int>>(all[1]) == std::nullopt);
  CHECK(from_value<int>(all[2]) == 3);
  const Error error = testing::error_of([&] { bind_arguments(signature, passed({1})); });
  CHECK(error.text() == "f() missing 1 required positional argument: 'c'");
}

TEST_CASE("unknown parameter names and doubly assigned ones are refused") {
  CHECK(binding_refusal({"a"}, passed({}, {{"x", 1}})) == "f() got an unexpected keyword argument 'x'");
  CHECK(binding_refusal({"a"}, passed({1}, {{"x", 1}})) == "f() got an unexpected keyword argument 'x'");
  CHECK(binding_refusal({"rate", "steps"}, passed({}, {{"step", 1}})) ==
        "f() got an unexpected keyword argument 'step'; did you mean steps?");
  CHECK(binding_refusal({}, passed({}, {{"", 1}})) == "f() got an unexpected keyword argument ''");
  CHECK(binding_refusal({"a", "b"}, passed({1, 2}, {{"a", 1}})) == "f() got multiple values for argument 'a'");
  CHECK(binding_refusal({"a", "b"}, passed({}, {{"a", 1}, {"a", 2}})) == "f() got multiple values for argument 'a'");
}

TEST_CASE("a signature is written as in Python") {
  CHECK(to_string(signature_of({"a", "b"})) == "f(a: int, b: int)");
  CHECK(to_string(signature_of({})) == "f()");
}

}  // namespace
}  // namespace distrun::rpc
