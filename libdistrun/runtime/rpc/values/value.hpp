#pragma once
// What calls carry: a closed set of types, and classes that a plugin has registered. Nothing that arrives is executed.
//
//   none  bool  int  float  string  Tensor  Device  WorkerInfo  list  tuple  map  record  instance  function name
//   reference
//
// A value is a tree. What two places of it share on the sender's side is there twice at the receiver; but tensors that
// share memory share it there, too, and one tensor in two places is one there. It may be nested to any depth: whatever
// is done with it here takes no more of the stack for that. What is sent has up to kDepthMax levels.
//
// C++ types become values and come back by convert.hpp, values become bytes and tensors by codec.hpp.
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

inline constexpr int kDepthMax = 64;  // levels of lists, tuples, maps and records in each other, in what is sent

// Items of a value, which may have items themselves. Copying and destroying them recurs for some levels, and goes on
// with no recursion below (value.cpp).
template <class Item>
class Items : public std::vector<Item> {
  using Base = std::vector<Item>;

 public:
  using Base::Base;
  Items() noexcept = default;
  Items(Base items) noexcept : Base(std::move(items)) {}
  Items(const Items& other);
  Items(Items&& other) noexcept = default;
  Items& operator=(const Items& other) {
    if (this != &other) Base::operator=(Items(other));
    return *this;
  }
  Items& operator=(Items&& other) noexcept = default;
  ~Items();
};

using ValueList = Items<Value>;
using ValueEntries = Items<std::pair<Value, Value>>;

struct List {
  ValueList items;
};
struct Tuple {
  ValueList items;
};
// In the order in which the entries were put in. Keys are compared as values; tensors by identity.
struct Map {
  ValueEntries items;
};
// A struct with DISTRUN_FIELDS: its fields in their order.
struct Record {
  ValueList fields;
};
// An object of a class that is registered: a copy travels.
struct Instance {
  const ObjectType* type = nullptr;  // lives until the process ends
  std::shared_ptr<void> object;
};
// A function or method, as an argument.
struct FunctionName {
  std::string name;
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
  Future,  // never travels: whoever sends one is refused
  Reference,
};
std::string_view name_of(Kind kind) noexcept;  // "int", "Tensor", "list"

class Value {
 public:
  using Held = std::variant<std::monostate, bool, std::int64_t, double, std::string, Tensor, device::Device, WorkerInfo,
                            FunctionName, List, Tuple, Map, Record, Instance, future::AnyFuture, ReferencePtr>;

  Value() noexcept = default;  // none
  template <class T>
  requires(!std::is_same_v<std::remove_cvref_t<T>, Value> &&
           std::is_constructible_v<Held, std::in_place_type_t<T>, T>) explicit Value(T held)
      : held_(std::in_place_type<T>, std::move(held)) {}

  Kind kind() const noexcept { return static_cast<Kind>(held_.index()); }
  bool is_none() const noexcept { return kind() == Kind::None; }
  // A list, tuple, map or record.
  bool has_items() const noexcept { return kind() >= Kind::List && kind() <= Kind::Record; }
  const Held& held() const noexcept { return held_; }
  Held& held() noexcept { return held_; }
  template <class T>
  const T* get_if() const noexcept {
    return std::get_if<T>(&held_);
  }
  template <class T>
  T* get_if() noexcept {
    return std::get_if<T>(&held_);
  }
  // To futures (runtime/future/tensors_in.hpp): the tensors on GPUs that it holds, however deep; of instances those
  // that their type shows.
  void visit_tensors(const future::TensorVisitor& visit) const;

 private:
  Held held_;
};

extern template class Items<Value>;
extern template class Items<std::pair<Value, Value>>;

// Each reference that it holds, however deep; of instances those that their type shows.
void visit_references(const Value& value, const ReferenceVisitor& visit);  // in inspect.cpp, too
// An object of a plugin's class, however deep.
bool holds_instance(const Value& value) noexcept;
// Deep; tensors by identity, instances by the object.
bool same(const Value& left, const Value& right);
// For the texts of errors and reports: "int 3", "list of 2", "MyClass".
std::string describe(const Value& value);  // in inspect.cpp, as visit_tensors()

}  // namespace distrun::rpc
