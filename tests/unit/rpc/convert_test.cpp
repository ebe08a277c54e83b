// C++ types as values, and refusals of the conversion back.
#include <catch2/catch.hpp>

#include <limits>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/rpc/values/convert.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>

#include "support/error_of.hpp"

namespace distrun::rpc {
namespace convert_test {

struct Point {
  int x = 0;
  std::string name;
};
DISTRUN_FIELDS(Point, m.x, m.name)

struct Line {
  Point from, to;
  std::optional<double> width;
};
DISTRUN_FIELDS(Line, m.from, m.to, m.width)

struct Nobody {};
struct Known {
  int a = 0;
};

}  // namespace convert_test

namespace {

using namespace convert_test;

enum class Color : std::uint8_t { Red = 1, Blue = 250 };

template <class T>
T again(const T& object) {
  return from_value<T>(to_value(object));
}

template <class T>
std::string refusal(const Value& value) {
  const Error error = testing::error_of([&] { from_value<T>(value); });
  CHECK(error.kind() == ErrorKind::InvalidArgument);
  CHECK(error.type() == "TypeError");
  return error.text();
}

TEST_CASE("C++ types are converted and back unchanged") {
  CHECK(again(true));
  CHECK(again(std::numeric_limits<std::int64_t>::min()) == std::numeric_limits<std::int64_t>::min());
  CHECK(again(std::uint8_t{255}) == 255);
  CHECK(again(Color::Blue) == Color::Blue);
  CHECK(again(0.1) == 0.1);
  CHECK(again(0.1F) == 0.1F);
  CHECK(again(std::string("a\0b", 3)) == std::string("a\0b", 3));
  CHECK(again(std::vector<std::string>{"a", ""}) == std::vector<std::string>{"a", ""});
  CHECK(again(std::vector<bool>{true, false}) == std::vector<bool>{true, false});
  CHECK(again(std::array<int, 2>{1, 2}) == std::array<int, 2>{1, 2});
  const std::map<std::string, std::vector<int>> map{{"a", {1}}, {"b", {}}};
  CHECK(again(map) == map);
  const std::unordered_map<int, double> unordered{{1, 0.5}, {2, 1.5}};
  CHECK(again(unordered) == unordered);
  CHECK(again(std::pair(1, std::string("x"))) == std::pair(1, std::string("x")));
  CHECK(again(std::tuple(1, 0.5, true)) == std::tuple(1, 0.5, true));
  CHECK(again(std::optional<int>()) == std::nullopt);
  CHECK(again(std::optional(3)) == 3);
  CHECK(again(WorkerInfo("worker1", 1)) == WorkerInfo("worker1", 1));
  CHECK(again(device::cuda(2)) == device::cuda(2));
  CHECK(again(FunctionName{"f"}) == FunctionName{"f"});
  const Tensor tensor = tensor::ones({2});
  CHECK(again(tensor).is_same(tensor));
  CHECK_NOTHROW(from_value<void>(to_value(std::string("anything"))));
}

TEST_CASE("structs with fields are records, also nested") {
  const Line line = again(Line{{1, "a"}, {2, "b"}, 0.5});
  CHECK(line.from.x == 1);
  CHECK(line.to.name == "b");
  CHECK(line.width == 0.5);
  CHECK(refusal<Point>(to_value(1)) == "must be record, not int 1");
  CHECK(refusal<Point>(Value(Record{{to_value(1)}})) == "must be a record of more fields, not record of 1 field");
  CHECK(refusal<Point>(Value(Record{{to_value(1), to_value("x"), Value()}})) ==
        "must be a record of 2, not record of 3 fields");
  CHECK(refusal<Point>(Value(Record{{to_value("x"), to_value("x")}})) == "must be int, not str");
}

TEST_CASE("ints convert to floats, and lists and tuples to each other") {
  CHECK(from_value<double>(to_value(3)) == 3.0);
  CHECK(from_value<std::vector<int>>(to_value(std::tuple(1, 2))) == std::vector{1, 2});
  CHECK(from_value<std::pair<int, int>>(to_value(std::vector{1, 2})) == std::pair(1, 2));
  CHECK(refusal<int>(to_value(3.0)) == "must be int, not float");
  CHECK(refusal<int>(Value(true)) == "must be int, not bool");
  CHECK(refusal<bool>(to_value(1)) == "must be bool, not int 1");
}

TEST_CASE("a value that does not fit is refused, and the text names it") {
  CHECK(refusal<std::string>(Value()) == "must be str, not None");
  CHECK(refusal<double>(to_value("x")) == "must be float, not str");
  CHECK(refusal<Tensor>(to_value(1)) == "must be Tensor, not int 1");
  CHECK(refusal<std::vector<int>>(to_value("x")) == "must be list of int, not str");
  CHECK(refusal<std::vector<int>>(to_value(std::vector<std::string>{"x"})) == "must be int, not str");
  CHECK(refusal<std::tuple<int, int>>(to_value(std::vector{1, 2, 3})) == "must be tuple of 2, not list of 3");
  CHECK(refusal<std::array<int, 1>>(to_value(std::vector{1, 2, 3})) == "must be list of int, not list of 3");
  CHECK(refusal<std::map<std::string, int>>(to_value(std::vector{1})) == "must be map of str to int, not list of 1");
  CHECK(refusal<std::optional<int>>(to_value("x")) == "must be int, not str");
  CHECK(refusal<future::AnyFuture>(to_value(1)) == "must be Future, not int 1");
}

TEST_CASE("ints out of the range of the target type are refused") {
  CHECK(refusal<std::int8_t>(to_value(200)) == "must be an int of 8 bits, which can't hold 200");
  CHECK(refusal<std::uint32_t>(to_value(-1)) == "must be an int of 32 bits, which can't hold -1");
  CHECK(from_value<std::uint32_t>(to_value(4'000'000'000)) == 4'000'000'000);
  CHECK(refusal<Color>(to_value(256 + 1)) == "must be an int of 8 bits, which can't hold 257");
  const auto beyond = std::numeric_limits<std::uint64_t>::max();
  const Error error = testing::error_of([&] { to_value(beyond); });
  CHECK(error.type() == "TypeError");
  CHECK(error.text() == "must be an int of 64 bits, which can't hold 18446744073709551615");
  CHECK(from_value<std::uint64_t>(to_value(beyond / 2)) == beyond / 2);
}

TEST_CASE("objects of unregistered classes are refused by their name") {
  CHECK_THROWS_WITH(to_value(Nobody()),
                    "objects of the class distrun::rpc::convert_test::Nobody can't be sent: register it with "
                    "distrun::rpc::RegisterClass, or give it DISTRUN_FIELDS");
  CHECK_THROWS_AS(to_value(std::make_shared<Nobody>()), Error);
  CHECK(refusal<Nobody>(to_value(1)) == "must be an unregistered class, not int 1");
  CHECK(to_value(std::shared_ptr<Nobody>()).is_none());
}

TEST_CASE("registered objects are copied, or shared where a pointer is wanted") {
  ObjectType type;
  type.name = "convert_test.Known";
  type.type = typeid(Known);
  add_object_type(std::move(type));
  const auto object = std::make_shared<Known>(Known{3});
  const Value value = to_value(object);
  CHECK(from_value<std::shared_ptr<Known>>(value) == object);
  CHECK(from_value<Known>(value).a == 3);
  CHECK(from_value<Known>(to_value(Known{4})).a == 4);
  CHECK(type_name<std::shared_ptr<Known>>() == "convert_test.Known");
  CHECK(refusal<Known>(to_value("x")) == "must be convert_test.Known, not str");
  CHECK(refusal<std::string>(value) == "must be str, not convert_test.Known");
}

TEST_CASE("types have names for signatures") {
  CHECK(type_name<int>() == "int");
  CHECK(type_name<std::uint8_t>() == "int");
  CHECK(type_name<float>() == "float");
  CHECK(type_name<bool>() == "bool");
  CHECK(type_name<std::vector<Tensor>>() == "list of Tensor");
  CHECK(type_name<std::map<std::string, std::optional<int>>>() == "map of str to int or None");
  CHECK(type_name<std::pair<int, int>>() == "tuple of 2");
  CHECK(type_name<Point>() == "record");
  CHECK(type_name<Nobody>() == "an unregistered class");
}

}  // namespace
}  // namespace distrun::rpc
