// Values: their types, equality, and descriptions.
#include <catch2/catch.hpp>

#include <distrun/runtime/rpc/values/convert.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>

#include "support/gpus.hpp"

namespace distrun::rpc {
namespace {

struct Shown {
  Tensor tensor;
  void visit_tensors(const future::TensorVisitor& visit) const { visit(tensor); }
};

Instance instance_of_shown(const Tensor& tensor) {
  static const ObjectType* const type = [] {
    ObjectType made;
    made.name = "value_test.Shown";
    made.type = typeid(Shown);
    made.visit_tensors = [](const void* object, const future::TensorVisitor& visit) {
      static_cast<const Shown*>(object)->visit_tensors(visit);
    };
    return &add_object_type(std::move(made));
  }();
  return {type, std::make_shared<Shown>(Shown{tensor})};
}

Value map_of(Value key, Value mapped) {
  Map map;
  map.items.emplace_back(std::move(key), std::move(mapped));
  return Value(std::move(map));
}

TEST_CASE("each kind has a name for errors") {
  CHECK(name_of(Value().kind()) == "None");
  CHECK(name_of(Value(true).kind()) == "bool");
  CHECK(name_of(to_value(3).kind()) == "int");
  CHECK(name_of(to_value(0.5).kind()) == "float");
  CHECK(name_of(to_value("x").kind()) == "str");
  CHECK(name_of(Value(Tensor()).kind()) == "Tensor");
  CHECK(name_of(Value(device::kCpu).kind()) == "Device");
  CHECK(name_of(Value(WorkerInfo("w", 1)).kind()) == "WorkerInfo");
  CHECK(name_of(Value(FunctionName{"f"}).kind()) == "function");
  CHECK(name_of(Value(List()).kind()) == "list");
  CHECK(name_of(Value(Tuple()).kind()) == "tuple");
  CHECK(name_of(Value(Map()).kind()) == "map");
  CHECK(name_of(Value(Record()).kind()) == "record");
  CHECK(name_of(Value(instance_of_shown({})).kind()) == "object");
  CHECK(name_of(to_value(Future<int>()).kind()) == "Future");
}

TEST_CASE("a description has the important parts of a value, and not all of it") {
  CHECK(describe(Value()) == "None");
  CHECK(describe(to_value(-3)) == "int -3");
  CHECK(describe(to_value("a secret")) == "str");
  CHECK(describe(Value(tensor::ones({2, 3}))) == "Tensor float32 [2, 3]");
  CHECK(describe(Value(Tensor())) == "Tensor undefined");
  CHECK(describe(to_value(std::vector<int>{1, 2})) == "list of 2");
  CHECK(describe(to_value(std::pair(1, 2))) == "tuple of 2");
  CHECK(describe(map_of(to_value(1), to_value(2))) == "map of 1");
  CHECK(describe(Value(Record{{Value()}})) == "record of 1 field");
  CHECK(describe(Value(Record())) == "record of 0 fields");
  CHECK(describe(Value(instance_of_shown({}))) == "value_test.Shown");
}

TEST_CASE("values are equal if all their parts are, tensors and objects by identity") {
  const Tensor tensor = tensor::ones({2}), other = tensor::ones({2});
  CHECK(same(Value(), Value()));
  CHECK(same(to_value(std::vector<int>{1, 2}), to_value(std::vector<int>{1, 2})));
  CHECK_FALSE(same(to_value(std::vector<int>{1, 2}), to_value(std::vector<int>{1, 2, 3})));
  CHECK_FALSE(same(to_value(std::vector<int>{1, 2}), to_value(std::pair(1, 2))));
  CHECK_FALSE(same(to_value(1), to_value(1.0)));
  CHECK_FALSE(same(to_value(1), to_value(true)));
  CHECK(same(Value(Tensor(tensor)), Value(Tensor(tensor))));
  CHECK_FALSE(same(Value(Tensor(tensor)), Value(Tensor(other))));
  CHECK(same(map_of(Value(Tensor(tensor)), to_value("x")), map_of(Value(Tensor(tensor)), to_value("x"))));
  CHECK_FALSE(same(map_of(Value(Tensor(tensor)), to_value("x")), map_of(Value(Tensor(other)), to_value("x"))));
  CHECK_FALSE(same(map_of(to_value(1), to_value("x")), map_of(to_value(1), to_value("y"))));
  const Instance object = instance_of_shown(tensor);
  CHECK(same(Value(Instance(object)), Value(Instance(object))));
  CHECK_FALSE(same(Value(Instance(object)), Value(instance_of_shown(tensor))));
  const Future<int> future;
  CHECK(same(to_value(future), to_value(future)));
  CHECK_FALSE(same(to_value(future), to_value(Future<int>())));
  CHECK(same(Value(Record{{to_value(1)}}), Value(Record{{to_value(1)}})));
  CHECK_FALSE(same(Value(Record{{to_value(1)}}), Value(Record{{to_value(2)}})));
}

TEST_CASE("objects are found at any depth") {
  const Value object(instance_of_shown({}));
  CHECK(holds_instance(object));
  CHECK(holds_instance(Value(List{{Value(), Value(Tuple{{object}})}})));
  CHECK(holds_instance(Value(Record{{object}})));
  CHECK(holds_instance(map_of(object, Value())));
  CHECK(holds_instance(map_of(Value(), object)));
  CHECK_FALSE(holds_instance(map_of(Value(), Value(List{{to_value(1)}}))));
  CHECK_FALSE(holds_instance(Value()));
}

TEST_CASE("tensors on GPUs are shown to futures, and those of objects by their type") {
  testing::use_gpus();
  const Tensor here = tensor::ones({2}), one = tensor::ones({2}, {tensor::DType::F32, device::cuda(0)}),
               two = tensor::ones({2}, {tensor::DType::F32, device::cuda(1)});
  const Value value(List{{Value(Tensor(here)), Value(Tensor()), map_of(Value(Tensor(one)), to_value(1)),
                          Value(Tuple{{Value(Record{{Value(instance_of_shown(two))}})}})}});
  TensorList seen;
  value.visit_tensors([&](const Tensor& tensor) { seen.push_back(tensor); });
  REQUIRE(seen.size() == 2);
  CHECK(seen[0].is_same(one));
  CHECK(seen[1].is_same(two));
}

}  // namespace
}  // namespace distrun::rpc
