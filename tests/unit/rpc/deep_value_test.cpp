// Values that are nested so deep that a recursion over them would overflow the stack.
#include <catch2/catch.hpp>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/rng.hpp>
#include <distrun/runtime/rpc/values/codec.hpp>
#include <distrun/runtime/rpc/values/convert.hpp>
#include <distrun/runtime/rpc/values/nested.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>

#include "support/gpus.hpp"

namespace distrun::rpc {
namespace deep_value_test {

constexpr int kDeep = 100'000;  // a recursion takes more than 80 bytes a level, of a stack of 8 MiB

// A struct that holds others of its type.
struct Tree {
  std::vector<Tree> branches;
};
DISTRUN_FIELDS(Tree, m.branches)

}  // namespace deep_value_test

namespace {

using namespace deep_value_test;

Value list_of(Value item) {
  List list;
  list.items.push_back(std::move(item));
  return Value(std::move(list));
}
Value tuple_of(Value item) {
  Tuple tuple;
  tuple.items.push_back(Value(true));
  tuple.items.push_back(std::move(item));
  return Value(std::move(tuple));
}
Value record_of(Value item) {
  Record record;
  record.fields.push_back(std::move(item));
  record.fields.push_back(Value());
  return Value(std::move(record));
}
Value map_to(Value item) {
  Map map;
  map.items.emplace_back(Value(true), std::move(item));
  return Value(std::move(map));
}
Value map_from(Value item) {
  Map map;
  map.items.emplace_back(std::move(item), Value(true));
  map.items.emplace_back(Value(), Value());
  return Value(std::move(map));
}
// Both have items.
Value map_both(Value item) {
  Map map;
  map.items.emplace_back(list_of(Value()), std::move(item));
  return Value(std::move(map));
}

using Wrap = Value (*)(Value);
const std::vector<Wrap> kWraps{list_of, tuple_of, record_of, map_to, map_from, map_both};

Value wrapped(Value value, const std::vector<Wrap>& wraps, int levels = kDeep) {
  for (int i = 0; i < levels; ++i) value = wraps[static_cast<std::size_t>(i) % wraps.size()](std::move(value));
  return value;
}

Instance instance_of(std::shared_ptr<void> object) {
  static const ObjectType* const type = [] {
    ObjectType made;
    made.name = "deep_value_test.Object";
    return &add_object_type(std::move(made));
  }();
  return {type, std::move(object)};
}

// A value of all kinds with items, many of them in each other, which holds the object `count` times.
Value tree_of(base::Rng& rng, const std::shared_ptr<void>& object, int count) {
  if (count == 0) return rng.below(2) == 0 ? Value() : list_of(Value(true));
  if (count == 1) return Value(instance_of(object));
  const int first = static_cast<int>(rng.below(static_cast<std::uint64_t>(count)));
  Value one = tree_of(rng, object, first), other = tree_of(rng, object, count - first);
  switch (rng.below(4)) {
    case 0: {
      Map map;
      map.items.emplace_back(std::move(one), std::move(other));
      return Value(std::move(map));
    }
    case 1: return Value(Record{{std::move(one), Value(), std::move(other)}});
    case 2: return Value(Tuple{{list_of(std::move(one)), std::move(other), Value()}});
    default: return Value(List{{Value(true), std::move(one), map_from(std::move(other))}});
  }
}

TEST_CASE("a value of any depth is copied, assigned, compared and destroyed") {
  for (const Wrap each : kWraps) {
    const Value value = wrapped(to_value(1), {each});
    Value copy = value;
    CHECK(same(copy, value));
    CHECK(levels_of(copy) == static_cast<std::size_t>(each == map_both ? kDeep + 1 : kDeep));
    CHECK_FALSE(same(copy, wrapped(to_value(2), {each})));
    copy = copy;  // NOLINT(clang-diagnostic-self-assign-overloaded)
    CHECK(same(copy, value));
    copy = to_value("other");
    copy = value;
    const Value taken = std::move(copy);
    CHECK(same(taken, value));
  }
  const Value mixed = wrapped(to_value(1), kWraps);
  CHECK(same(Value(mixed), mixed));
}

TEST_CASE("a part of a deep value can replace the value") {
  Value value = wrapped(to_value(1), {list_of});
  for (int i = 0; i < 10; ++i) value = Value(value.get_if<List>()->items[0]);
  CHECK(levels_of(value) == static_cast<std::size_t>(kDeep - 10));
}

TEST_CASE("all parts of a value are copied and destroyed, in any shape") {
  base::Rng rng(11);
  const auto object = std::make_shared<int>(7);
  for (int round = 0; round < 300; ++round) {
    const int count = static_cast<int>(rng.below(60));
    {
      const Value value = tree_of(rng, object, count);
      REQUIRE(object.use_count() == 1 + count);
      const Value copy = value;
      REQUIRE(object.use_count() == 1 + 2 * count);
      CHECK(same(copy, value));
      CHECK(holds_instance(copy) == (count > 0));
      Value below = wrapped(copy, kWraps, 100);
      REQUIRE(object.use_count() == 1 + 3 * count);
      below = value;
      REQUIRE(object.use_count() == 1 + 3 * count);
    }
    REQUIRE(object.use_count() == 1);
  }
}

TEST_CASE("tensors and objects in a deep value are found, in order") {
  testing::use_gpus();
  const Tensor one = tensor::ones({2}, {tensor::DType::F32, device::cuda(0)}),
               two = tensor::ones({2}, {tensor::DType::F32, device::cuda(0)});
  CHECK(holds_instance(wrapped(Value(instance_of(nullptr)), kWraps)));
  CHECK_FALSE(holds_instance(wrapped(Value(), kWraps)));
  Value inner(List{{Value(Tensor(one)), list_of(Value(Tensor(two))), Value(Tensor(one))}});
  const Value value = wrapped(std::move(inner), kWraps);
  TensorList seen;
  value.visit_tensors([&](const Tensor& tensor) { seen.push_back(tensor); });
  REQUIRE(seen.size() == 3);
  CHECK(seen[0].is_same(one));
  CHECK(seen[1].is_same(two));
  CHECK(seen[2].is_same(one));
  int references = 0;
  visit_references(value, [&](const ReferencePtr&) { ++references; });
  CHECK(references == 0);
}

TEST_CASE("a value that is too deep to be sent is refused with its depth and the limit") {
  CHECK_THROWS_WITH(pack(wrapped(Value(), {list_of})),
                    "a value is nested 100000 levels deep, and at most 64 can be sent: make it flatter, or send its "
                    "parts one by one");
  CHECK_NOTHROW(pack(wrapped(Value(), {list_of}, kDepthMax)));
}

TEST_CASE("structs nested too deep in structs of their type are refused, in both directions") {
  const auto chain = [](int levels) {
    Tree tree;
    for (int i = 1; i < levels; ++i) {
      Tree outer;
      outer.branches.push_back(std::move(tree));
      tree = std::move(outer);
    }
    return tree;
  };
  const std::string too_deep =
      "structs are nested more than 64 levels deep, and no more can be sent: make them flatter, or send their parts "
      "one by one";
  CHECK(from_value<Tree>(to_value(chain(kDepthMax))).branches.size() == 1);
  CHECK_THROWS_WITH(to_value(chain(1000)), too_deep);
  const auto tree_around = [](Value inner) { return record_of(list_of(std::move(inner))); };
  Value value(Record{{Value(List())}});
  for (int i = 1; i < 100'000; ++i) {
    Record outer;
    outer.fields.push_back(list_of(std::move(value)));
    value = Value(std::move(outer));
  }
  CHECK_THROWS_WITH(from_value<Tree>(value), too_deep);
  CHECK_THROWS_WITH(from_value<Tree>(tree_around(Value())), Catch::Contains("record"));
  CHECK(from_value<Tree>(to_value(chain(kDepthMax))).branches.size() == 1);  // what was refused has left nothing
}

}  // namespace
}  // namespace distrun::rpc
