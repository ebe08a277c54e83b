#pragma once
// Values that ported tests send as objects: lists, maps, and objects of a class Foo.
#include <map>
#include <string>
#include <variant>
#include <vector>

#include <distrun/common/wire/codec.hpp>
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::suites {

// A float32 tensor on the CPU, in transferable form.
struct TensorObject {
  std::vector<std::int64_t> sizes;
  std::vector<float> elements;
  friend bool operator==(const TensorObject&, const TensorObject&) = default;
};
DISTRUN_FIELDS(TensorObject, m.sizes, m.elements)
TensorObject object_of(const Tensor& tensor);
Tensor tensor_of(const TensorObject& object);

// Only the field for `kind` is meaningful. The sender decides the depth of nesting: use it for trusted senders only.
struct Object {
  enum class Kind : std::uint8_t { Int, Bool, Text, List, Map, Tensor, Foo };

  Kind kind = Kind::Int;
  std::int64_t number = 0;
  std::string text;
  std::vector<std::string> keys;  // of a map; or the attributes of a Foo
  std::vector<Object> parts;      // of a list; or the values of the keys
  TensorObject tensor;
};
DISTRUN_FIELDS(Object, m.kind, m.number, m.text, m.keys, m.parts, m.tensor)

Object of(std::int64_t number);
Object of(int number);
Object of(bool value);
Object of(const char* text);
Object of(const Tensor& tensor);
Object list_of(std::vector<Object> parts);
Object map_of(std::vector<std::pair<std::string, Object>> parts);
// Returns an object with an attribute "x"; others may be added.
Object foo_of(Object x);
void set_attribute(Object& foo, const std::string& name, Object value);

// Two Foos are equal if the left one's attributes are equal; the right one may have more. Throws Error{InvalidArgument,
// "AttributeError"} if it lacks one.
bool operator==(const Object& left, const Object& right);

// Returns the objects that tests of object collectives send; the tensor is random.
std::vector<Object> collectives_object_test_list();

// Inputs of a network, by field name.
struct NamedInputs {
  Tensor a, b;
};
DISTRUN_FIELDS(NamedInputs, m.a, m.b)
NamedInputs named_inputs(Tensor a, Tensor b);

}  // namespace distrun::suites
