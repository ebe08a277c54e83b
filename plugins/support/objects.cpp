#include "objects.hpp"

#include <algorithm>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>
#include <distrun/runtime/tensor/operators/random.hpp>

namespace distrun::suites {
namespace {

Object of_kind(Object::Kind kind) {
  Object object;
  object.kind = kind;
  return object;
}

const Object* attribute(const Object& of, const std::string& name) {
  const auto place = std::find(of.keys.begin(), of.keys.end(), name);
  return place == of.keys.end() ? nullptr : &of.parts[static_cast<std::size_t>(place - of.keys.begin())];
}

bool has_attributes_of(const Object& left, const Object& right) {
  for (const std::string& name : left.keys) {
    const Object* const other = attribute(right, name);
    if (other == nullptr) {
      throw Error(ErrorKind::InvalidArgument, "AttributeError", "'Foo' object has no attribute '" + name + "'");
    }
    if (!(*attribute(left, name) == *other)) return false;
  }
  return true;
}

}  // namespace

TensorObject object_of(const Tensor& tensor) {
  return {{tensor.sizes().begin(), tensor.sizes().end()}, tensor::to_vector<float>(tensor)};
}
Tensor tensor_of(const TensorObject& object) {
  Dims sizes;
  for (const std::int64_t size : object.sizes) sizes.push_back(size);
  return tensor::from_values(std::span<const float>(object.elements), sizes);
}

Object of(std::int64_t number) {
  Object object = of_kind(Object::Kind::Int);
  object.number = number;
  return object;
}
Object of(int number) { return of(static_cast<std::int64_t>(number)); }

Object of(bool value) {
  Object object = of_kind(Object::Kind::Bool);
  object.number = value ? 1 : 0;
  return object;
}

Object of(const char* text) {
  Object object = of_kind(Object::Kind::Text);
  object.text = text;
  return object;
}

Object of(const Tensor& tensor) {
  Object object = of_kind(Object::Kind::Tensor);
  object.tensor = object_of(tensor);
  return object;
}

Object list_of(std::vector<Object> parts) {
  Object object = of_kind(Object::Kind::List);
  object.parts = std::move(parts);
  return object;
}

Object map_of(std::vector<std::pair<std::string, Object>> parts) {
  Object object = of_kind(Object::Kind::Map);
  for (auto& [key, value] : parts) set_attribute(object, key, std::move(value));
  return object;
}

Object foo_of(Object x) {
  Object object = of_kind(Object::Kind::Foo);
  set_attribute(object, "x", std::move(x));
  return object;
}

void set_attribute(Object& foo, const std::string& name, Object value) {
  foo.keys.push_back(name);
  foo.parts.push_back(std::move(value));
}

bool operator==(const Object& left, const Object& right) {
  if (left.kind != right.kind) return false;
  switch (left.kind) {
    case Object::Kind::Int:
    case Object::Kind::Bool: return left.number == right.number;
    case Object::Kind::Text: return left.text == right.text;
    case Object::Kind::List: return left.parts == right.parts;
    case Object::Kind::Map: return left.keys == right.keys && left.parts == right.parts;
    case Object::Kind::Tensor: return left.tensor == right.tensor;
    case Object::Kind::Foo: break;
  }
  return has_attributes_of(left, right);
}

std::vector<Object> collectives_object_test_list() {
  Object foo = foo_of(of(10));
  set_attribute(foo, "bar", of(1));
  return {map_of({{"key1", of(3)}, {"key2", of(4)}, {"key3", map_of({{"nested", of(true)}})}}), std::move(foo),
          foo_of(of(tensor::randn({3, 3}))), of("foo"),
          list_of({of(1), of(2), of(true), of("string"), list_of({of(4), of(5), of("nested")})})};
}

NamedInputs named_inputs(Tensor a, Tensor b) { return {std::move(a), std::move(b)}; }

}  // namespace distrun::suites
