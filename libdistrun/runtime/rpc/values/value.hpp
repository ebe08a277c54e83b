#pragma once
// The values that calls carry: a closed set of types, and plugins' registered classes. Received data is never executed.
//
//   none  bool  int  float  string  Tensor  Device  WorkerInfo  list  tuple  map  record  instance  function name
//   reference
//
// A value is a tree. An object that occurs twice at the sender is duplicated at the receiver; but a tensor that occurs
// twice stays one tensor, and tensors that share memory still share it. Values may be nested to any depth; the
// operations here use a bounded part of the stack. A sent value has at most kDepthMax levels.
//
// convert.hpp converts C++ types to values and back, codec.hpp values to bytes and tensors.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <distrun/runtime/device/device.hpp>
#include <distrun/runtime/future/future.hpp>
#include <distrun/runtime/rpc/values/reference.hpp>
#include <distrun/runtime/rpc/worker_info.hpp>
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::rpc {

class Value;
class ObjectType;  // object_type.hpp

inline constexpr int kDepthMax = 64;  // nested levels of lists, tuples, maps and records in a sent value

// The items of a value; they may have items themselves. Copying and destroying recurs for some levels, and proceeds
// without recursion below them (value.cpp).
template <class Item>
class Items : public std::vector<Item> {
  using Base = std::vector<Item>;

 public:
  using Base::Base;
  Items() noexcept = default;
  Items(Base items) noexcept : Base(std::move(items)) {}  // takes the items
  Items(const Items& other);
  Items(Items&& other) noexcept = default;
  Items& operator=(const Items& other) {
    if (this != &other) Base::operator=(Items(other));
    return *this;
  }
  Items& operator=(Items&& other) noexcept = default;
  ~Items();
};

using ValueList = Items<Value>;                       // of a list, tuple or record
using ValueEntries = Items<std::pair<Value, Value>>;  // of a map: keys and values

// A list. Converts from vectors and arrays.
struct List {
  ValueList items;  // may be of different types
};
// A tuple. Converts from pairs and tuples.
struct Tuple {
  ValueList items;  // may be of different types
};
// Keeps the order of insertion. Compares keys as values, tensors by identity.
struct Map {
  ValueEntries items;  // keys and values
};
// A struct with DISTRUN_FIELDS: its fields in their order.
struct Record {
  ValueList fields;  // without their names
};
// An object of a registered class; a copy is sent.
struct Instance {
  const ObjectType* type = nullptr;  // lives until the process ends
  std::shared_ptr<void> object;      // of that type
};
// The name of a function or method, passed as an argument.
struct FunctionName {
  std::string name;  // as registered
  friend bool operator==(const FunctionName&, const FunctionName&) = default;
};

// In the order of Value's alternatives.
enum class Kind : std::uint8_t {
  None,
  Bool,
  Int,
  Float,
  String,
  Tensor,
  Device,
  Worker,
  Function,
  List,
  Tuple,
  Map,
  Record,
  Instance,
  Future,  // never sent: encoding one throws
  Reference,
};
std::string_view name_of(Kind kind) noexcept;  // "int", "Tensor", "list"

// One value of any of these types. Copies of containers are deep; tensors, objects and references are shared. As
// thread-safe as any value.
class Value {
 public:
  // in the order of Kind
  using Held = std::variant<std::monostate, bool, std::int64_t, double, std::string, Tensor, device::Device, WorkerInfo,
                            FunctionName, List, Tuple, Map, Record, Instance, future::AnyFuture, ReferencePtr>;

  Value() noexcept = default;  // none
  // Holds exactly a T, one of the alternatives; to_value() also converts.
  template <class T>
  requires(!std::is_same_v<std::remove_cvref_t<T>, Value> &&
           std::is_constructible_v<Held, std::in_place_type_t<T>, T>) explicit Value(T held)
      : held_(std::in_place_type<T>, std::move(held)) {}

  Kind kind() const noexcept { return static_cast<Kind>(held_.index()); }  // of the alternative that it holds
  bool is_none() const noexcept { return kind() == Kind::None; }           // holds nothing
  // Returns whether it is a list, tuple, map or record.
  bool has_items() const noexcept { return kind() >= Kind::List && kind() <= Kind::Record; }
  // Returns the variant.
  const Held& held() const noexcept { return held_; }
  Held& held() noexcept { return held_; }
  // Returns the held T; null if it holds another type.
  template <class T>
  const T* get_if() const noexcept {
    return std::get_if<T>(&held_);
  }
  template <class T>
  T* get_if() noexcept {
    return std::get_if<T>(&held_);
  }
  // Shows futures (tensors_in.hpp) the GPU tensors in the value at any depth; of instances what their type reports.
  void visit_tensors(const future::TensorVisitor& visit) const;

 private:
  Held held_;
};

extern template class Items<Value>;
extern template class Items<std::pair<Value, Value>>;

// Visits each reference in the value at any depth; for instances, those that their type reports.
void visit_references(const Value& value, const ReferenceVisitor& visit);  // in inspect.cpp
// Returns whether the value contains an object of a plugin's class, at any depth.
bool holds_instance(const Value& value) noexcept;
// Compares deeply; tensors by identity, instances by object.
bool same(const Value& left, const Value& right);
// For errors and reports: "int 3", "list of 2", "MyClass".
std::string describe(const Value& value);  // in inspect.cpp, as visit_tensors()

}  // namespace distrun::rpc
