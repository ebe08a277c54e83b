// Functions and classes by their names, and how a rank hides them.
#include <catch2/catch.hpp>

#include <algorithm>
#include <thread>

#include <distrun/runtime/rpc/compat.hpp>
#include <distrun/runtime/rpc/functions/register_class.hpp>

#include "support/error_of.hpp"
#include "unit/core/fake_rank_line.hpp"

namespace distrun::rpc {
namespace {

int registry_test_twice(int a, const std::string& b) { return 2 * a + static_cast<int>(b.size()); }
DISTRUN_RPC(registry_test_twice, "a")
void registry_test_nothing() {}
DISTRUN_RPC_INLINE(registry_test_nothing)
Future<int> registry_test_later(int a) {
  const Future<int> future;
  future.set_result(a + 1);
  return future;
}
DISTRUN_RPC_ASYNC(registry_test_later, "a")
int not_registered() { return 1; }

class Counter {
 public:
  explicit Counter(int start) : count_(start) {}
  int add(int n) { return count_ += n; }
  int count() const { return count_; }
  static std::string kind(int n) { return "static" + std::to_string(n); }
  static std::string made_by(const ClassName& type, int n) { return type.name + std::to_string(n); }

 private:
  int count_;
};
const auto counter = RegisterClass<Counter>("registry_test.Counter")
                         .constructor<int>({"start"})
                         .method("add", &Counter::add, {"n"})
                         .method("count", &Counter::count)
                         .static_method("kind", &Counter::kind, {"n"})
                         .class_method("made_by", &Counter::made_by, {"n"});

Value call(const std::string& name, const ValueList& values) {
  const auto function = get_function(name);
  Result result = function->run(bind_arguments(function->signature, {values, {}}));
  if (const auto* const later = std::get_if<future::Future<Value>>(&result)) return later->wait();
  return std::get<Value>(result);
}

TEST_CASE("functions run with values, and their signatures have names and types") {
  CHECK(to_string(get_function("registry_test_twice")->signature) == "registry_test_twice(a: int, arg1: str)");
  CHECK(from_value<int>(call("registry_test_twice", {to_value(3), to_value("xy")})) == 8);
  CHECK(call("registry_test_nothing", {}).is_none());
  CHECK(from_value<int>(call("registry_test_later", {to_value(3)})) == 4);
  CHECK(get_function("registry_test_twice")->execution == Execution::Plain);
  CHECK(get_function("registry_test_nothing")->execution == Execution::Inline);
  CHECK(get_function("registry_test_later")->execution == Execution::Async);
  CHECK_THROWS_WITH(call("registry_test_twice", {to_value("x"), to_value("y")}),
                    "argument 'a' must be int, not str (incompatible function arguments)");
  CHECK_THROWS_WITH(call("registry_test_nothing", {to_value(1)}),
                    "registry_test_nothing() takes 0 positional arguments but 1 was given");
}

TEST_CASE("classes are created and called by their names") {
  const Value object = call("registry_test.Counter", {to_value(3)});
  CHECK(from_value<int>(call("registry_test.Counter.add", {object, to_value(2)})) == 5);
  CHECK(from_value<int>(call("registry_test.Counter.count", {object})) == 5);
  CHECK(from_value<std::string>(call("registry_test.Counter.kind", {to_value(1)})) == "static1");
  CHECK(from_value<std::string>(call("registry_test.Counter.made_by", {to_value(2)})) == "registry_test.Counter2");
  CHECK_THROWS_WITH(call("registry_test.Counter.add", {to_value(1), to_value(2)}),
                    "argument 'self' must be registry_test.Counter, not int 1 (incompatible function arguments)");
}

TEST_CASE("the first registration of a name stays") {
  CHECK_THROWS_WITH(register_function("registry_test_nothing", {}, &not_registered),
                    "a function \"registry_test_nothing\" is registered for RPC already");
  CHECK_THROWS_WITH(RegisterClass<Counter>("registry_test.Other"), Catch::Contains("is registered already, as"));
  struct Other {};
  CHECK_THROWS_WITH(RegisterClass<Other>("registry_test.Counter"),
                    "a class \"registry_test.Counter\" is registered already");
  CHECK_THROWS_WITH(set_codec("registry_test.None", {}, {}), "no class \"registry_test.None\" is registered");
}

TEST_CASE("C++ functions are found by their address") {
  CHECK(name_of_function(reinterpret_cast<const void*>(&registry_test_twice)) == "registry_test_twice");
  CHECK(name_of_function(reinterpret_cast<const void*>(&Counter::kind)) == "registry_test.Counter.kind");
  CHECK_THROWS_WITH(name_of_function(reinterpret_cast<const void*>(&not_registered)),
                    "this function can't be called by others: register it with DISTRUN_RPC(function)");
}

TEST_CASE("an unknown name is reported with the most similar one") {
  const Error error = testing::error_of([] { get_function("registry_test_twise"); });
  CHECK(error.kind() == ErrorKind::Failed);
  CHECK(error.text() ==
        "no function \"registry_test_twise\" is registered here. Default RPC pickler does not serialize function "
        "code. Ensure that it is registered (DISTRUN_RPC) in both caller and callee. Did you mean "
        "\"registry_test_twice\"?");
  const std::string far = testing::error_of([] { get_function("0123456789"); }).text();
  CHECK_THAT(far, !Catch::Contains("Did you mean"));
  const std::string longer = testing::error_of([] { get_function(std::string(100'000, 'x')); }).text();
  CHECK(longer.size() < 400);
  CHECK_THAT(longer, !Catch::Contains("Did you mean"));
}

TEST_CASE("a rank hides a function from its own peers only") {
  const std::string name = "registry_test_twice";
  const testing::FakeRank rank;
  const auto version = functions_version();
  CHECK(hide_function(name));
  CHECK(functions_version() != version);
  CHECK(find_function(name) == nullptr);
  CHECK_THROWS_WITH(get_function(name), !Catch::Contains("Did you mean \"" + name));
  const std::vector<std::string> names = function_names();
  CHECK(std::find(names.begin(), names.end(), name) == names.end());
  CHECK(std::is_sorted(names.begin(), names.end()));
  CHECK_FALSE(hide_function(name));
  CHECK_FALSE(hide_function("registry_test_none"));
  {
    const testing::FakeRank other;
    CHECK(find_function(name) != nullptr);
  }
  std::thread([&] { CHECK(find_function(name) != nullptr); }).join();
  const auto hidden = functions_version();
  show_function(name);
  CHECK(functions_version() != hidden);
  CHECK(find_function(name) != nullptr);
}

}  // namespace
}  // namespace distrun::rpc
