#pragma once
// Converts C++ types to values and back.
//
//   void, std::monostate              none
//   bool, integers, enums, floating   bool, int, int, float
//   strings                           string
//   Tensor, Device, WorkerInfo        themselves
//   vector, array; map, pair, tuple   list; map; tuple
//   optional                          none, or what it holds
//   structs with DISTRUN_FIELDS       record
//   classes that are registered       instance; also by shared_ptr, which shares the object that was decoded
// a value that cannot be sent
//   RRef                              reference
//   Value, List, Map, ...             themselves
//
// from_value() throws Error{InvalidArgument, "TypeError"}: "must be int, not str". It converts int to float, and lists
// and tuples to each other.
#include <array>
#include <concepts>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <type_traits>
#include <unordered_map>

#include <distrun/common/wire/codec.hpp>
#include <distrun/runtime/rpc/values/object_type.hpp>
#include <distrun/runtime/rpc/values/value.hpp>

namespace distrun::rpc {

// Returns the name of a type for errors and signatures: "int", "list of Tensor", "MyClass".
template <class T>
std::string type_name();
// Converts an object to a value. Throws Error{InvalidArgument} for a number that exceeds std::int64_t, an object of a
// class that is not registered, and structs that are nested too deep.
template <class T>
Value to_value(T&& object);
// Converts a value to a T. Throws Error{InvalidArgument, "TypeError"} if it is of another type, or a number out of
// range.
template <class T>
T from_value(const Value& value);

namespace detail {

[[noreturn]] void refuse_value(const std::string& wanted, const Value& value);
[[noreturn]] void refuse_unregistered(const std::type_info& type);
[[noreturn]] void refuse_range(std::size_t bytes, const std::string& number);  // `bytes`: the size of the int type
// Returns the items of a list or a tuple; null for other values.
const ValueList* items_of(const Value& value) noexcept;
const void* instance_of(const Value& value, std::type_index type) noexcept;  // null if `value` is no instance of `type`
std::shared_ptr<void> shared_instance_of(const Value& value, std::type_index type) noexcept;

template <class T>
std::int64_t to_int(T number) {
  if constexpr (std::is_same_v<T, std::uint64_t> || std::is_same_v<T, unsigned long long>) {
    if (number > std::uint64_t{std::numeric_limits<std::int64_t>::max()}) {
      refuse_range(sizeof(std::int64_t), std::to_string(number));
    }
  }
  return static_cast<std::int64_t>(number);
}

// Held while the fields of a struct are converted, since a struct may nest structs of its own type to any depth. Throws
// Error{InvalidArgument} beyond kDepthMax.
class FieldsScope {
 public:
  FieldsScope();
  ~FieldsScope();
  FieldsScope(const FieldsScope&) = delete;
  FieldsScope& operator=(const FieldsScope&) = delete;
};

struct FieldWriter {
  ValueList fields;
  template <class... Fields>
  void operator()(const Fields&... each) {
    (fields.push_back(to_value(each)), ...);
  }
};
struct FieldReader {
  const ValueList& fields;
  std::size_t next = 0;
  template <class... Fields>
  void operator()(Fields&... each) {
    (get(each), ...);
  }
  template <class T>
  void get(T& field) {
    if (next >= fields.size()) refuse_value("a record of more fields", Value(Record{fields}));
    field = from_value<T>(fields[next++]);
  }
};

template <class T>
concept HasFields = std::is_class_v<T> && requires(FieldWriter& archive, const T& object) {
  fields(archive, object);
};

template <class T>
inline constexpr bool kIsVector = false;
template <class T>
inline constexpr bool kIsVector<std::vector<T>> = true;
template <class T>
inline constexpr bool kIsVector<Items<T>> = true;
template <class T>
inline constexpr bool kIsArray = false;
template <class T, std::size_t n>
inline constexpr bool kIsArray<std::array<T, n>> = true;
template <class T>
inline constexpr bool kIsMap = false;
template <class K, class V>
inline constexpr bool kIsMap<std::map<K, V>> = true;
template <class K, class V>
inline constexpr bool kIsMap<std::unordered_map<K, V>> = true;
template <class T>
inline constexpr bool kIsTuple = false;
template <class... T>
inline constexpr bool kIsTuple<std::tuple<T...>> = true;
template <class A, class B>
inline constexpr bool kIsTuple<std::pair<A, B>> = true;
template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;
template <class T>
inline constexpr bool kIsShared = false;
template <class T>
inline constexpr bool kIsShared<std::shared_ptr<T>> = true;
template <class T, class Variant>
inline constexpr bool kIsAlternative = false;
template <class T, class... Held>
inline constexpr bool kIsAlternative<T, std::variant<Held...>> = (std::is_same_v<T, Held> || ...);
template <class T>
concept Held = kIsAlternative<T, Value::Held>;
template <class T, std::size_t i = 0>
constexpr Kind find_kind() {
  if constexpr (std::is_same_v<T, std::variant_alternative_t<i, Value::Held>>) {
    return static_cast<Kind>(i);
  } else {
    return find_kind<T, i + 1>();
  }
}
template <Held T>
inline constexpr Kind kind_of = find_kind<T>();
// RRef<T> of rref, or a type with the same interface.
template <class T>
concept Refers = requires(const T& object, ReferencePtr reference) {
  { object.reference() } -> std::convertible_to<ReferencePtr>;
  { T::of(reference) } -> std::same_as<T>;
};
template <class T>
concept Text = std::is_convertible_v<const T&, std::string_view>;

}  // namespace detail

template <class Passed>
std::string type_name() {
  using T = std::remove_cvref_t<Passed>;
  if constexpr (std::is_void_v<T> || std::is_same_v<T, std::monostate>) {
    return "None";
  } else if constexpr (std::is_same_v<T, Value>) {
    return "any";
  } else if constexpr (std::is_same_v<T, bool>) {
    return "bool";
  } else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
    return "int";
  } else if constexpr (std::is_floating_point_v<T>) {
    return "float";
  } else if constexpr (detail::Text<T>) {
    return "str";
  } else if constexpr (std::is_base_of_v<future::AnyFuture, T>) {
    return "Future";
  } else if constexpr (detail::Refers<T>) {
    return "RRef";
  } else if constexpr (detail::Held<T>) {
    return std::string(name_of(detail::kind_of<T>));
  } else if constexpr (detail::kIsVector<T> || detail::kIsArray<T>) {
    return "list of " + type_name<typename T::value_type>();
  } else if constexpr (detail::kIsMap<T>) {
    return "map of " + type_name<typename T::key_type>() + " to " + type_name<typename T::mapped_type>();
  } else if constexpr (detail::kIsTuple<T>) {
    return "tuple of " + std::to_string(std::tuple_size_v<T>);
  } else if constexpr (detail::kIsOptional<T>) {
    return type_name<typename T::value_type>() + " or None";
  } else if constexpr (detail::kIsShared<T>) {
    return type_name<typename T::element_type>();
  } else if constexpr (detail::HasFields<T>) {
    return "record";
  } else {
    const ObjectType* const type = find_object_type(typeid(T));
    return type != nullptr ? type->name : "an unregistered class";
  }
}

// Converts an object to a value: see the declaration above.
template <class Passed>
Value to_value(Passed&& object) {
  using T = std::remove_cvref_t<Passed>;
  if constexpr (std::is_same_v<T, Value>) {
    return std::forward<Passed>(object);
  } else if constexpr (std::is_same_v<T, bool>) {
    return Value(bool{object});
  } else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
    return Value(detail::to_int(object));
  } else if constexpr (std::is_floating_point_v<T>) {
    return Value(static_cast<double>(object));
  } else if constexpr (detail::Text<T>) {
    return Value(std::string(std::string_view(object)));
  } else if constexpr (std::is_base_of_v<future::AnyFuture, T>) {
    return Value(static_cast<const future::AnyFuture&>(object));
  } else if constexpr (detail::Refers<T>) {
    ReferencePtr reference = object.reference();
    return reference == nullptr ? Value() : Value(std::move(reference));
  } else if constexpr (detail::Held<T>) {
    return Value(T(std::forward<Passed>(object)));
  } else if constexpr (detail::kIsVector<T> || detail::kIsArray<T>) {
    List list;
    list.items.reserve(object.size());
    for (auto&& each : object) list.items.push_back(to_value(typename T::value_type(each)));
    return Value(std::move(list));
  } else if constexpr (detail::kIsMap<T>) {
    Map map;
    for (const auto& [key, mapped] : object) map.items.emplace_back(to_value(key), to_value(mapped));
    return Value(std::move(map));
  } else if constexpr (detail::kIsTuple<T>) {
    Tuple tuple;
    std::apply([&](const auto&... each) { (tuple.items.push_back(to_value(each)), ...); }, object);
    return Value(std::move(tuple));
  } else if constexpr (detail::kIsOptional<T>) {
    return object ? to_value(*object) : Value();
  } else if constexpr (detail::kIsShared<T>) {
    if (!object) return Value();
    const ObjectType* const type = find_object_type(typeid(typename T::element_type));
    if (type == nullptr) detail::refuse_unregistered(typeid(typename T::element_type));
    return Value(Instance{type, object});
  } else if constexpr (detail::HasFields<T>) {
    const detail::FieldsScope scope;
    detail::FieldWriter writer;
    fields(writer, std::as_const(object));
    return Value(Record{std::move(writer.fields)});
  } else {
    const ObjectType* const type = find_object_type(typeid(T));
    if (type == nullptr) detail::refuse_unregistered(typeid(T));
    return Value(Instance{type, std::make_shared<T>(std::forward<Passed>(object))});
  }
}

namespace detail {

template <class T>
T number_from(const Value& value) {
  const auto* const number = value.get_if<std::int64_t>();
  if (number == nullptr) refuse_value("int", value);
  using Whole = typename std::conditional_t<std::is_enum_v<T>, std::underlying_type<T>, std::type_identity<T>>::type;
  const auto made = static_cast<Whole>(*number);
  if (static_cast<std::int64_t>(made) != *number || (std::is_unsigned_v<Whole> && *number < 0)) {
    refuse_range(sizeof(T), std::to_string(*number));
  }
  return static_cast<T>(made);
}

template <class T>
T float_from(const Value& value) {
  if (const auto* const number = value.get_if<double>()) return static_cast<T>(*number);
  if (const auto* const number = value.get_if<std::int64_t>()) return static_cast<T>(*number);
  refuse_value("float", value);
}

template <class T, std::size_t... i>
T tuple_from(const ValueList& items, std::index_sequence<i...>) {
  return T(from_value<std::tuple_element_t<i, T>>(items[i])...);
}

template <class T>
T items_from(const Value& value) {
  const ValueList* const items = items_of(value);
  if (items == nullptr) refuse_value(type_name<T>(), value);
  if constexpr (kIsVector<T>) {
    T list;
    list.reserve(items->size());
    for (const Value& each : *items) list.push_back(from_value<typename T::value_type>(each));
    return list;
  } else {
    if (items->size() != std::tuple_size_v<T>) refuse_value(type_name<T>(), value);
    if constexpr (kIsTuple<T>) {
      return tuple_from<T>(*items, std::make_index_sequence<std::tuple_size_v<T>>());
    } else {
      T array;
      for (std::size_t i = 0; i < items->size(); ++i) array[i] = from_value<typename T::value_type>((*items)[i]);
      return array;
    }
  }
}

template <class T>
T map_from(const Value& value) {
  const Map* const map = value.get_if<Map>();
  if (map == nullptr) refuse_value(type_name<T>(), value);
  T made;
  for (const auto& [key, mapped] : map->items) {
    made.insert_or_assign(from_value<typename T::key_type>(key), from_value<typename T::mapped_type>(mapped));
  }
  return made;
}

template <class T>
T record_from(const Value& value) {
  const Record* const record = value.get_if<Record>();
  if (record == nullptr) refuse_value("record", value);
  const FieldsScope scope;
  FieldReader reader{record->fields};
  T made;
  fields(reader, made);
  if (reader.next != record->fields.size()) refuse_value("a record of " + std::to_string(reader.next), value);
  return made;
}

}  // namespace detail

// Converts a value to a T: see the declaration above.
template <class Wanted>
Wanted from_value(const Value& value) {
  using T = std::remove_cvref_t<Wanted>;
  static_assert(std::is_same_v<T, Wanted>, "a value comes back as an object, not as a reference");
  if constexpr (std::is_same_v<T, Value>) {
    return value;
  } else if constexpr (std::is_void_v<T>) {
    return;
  } else if constexpr (std::is_same_v<T, bool>) {
    if (const bool* const held = value.get_if<bool>()) return *held;
    detail::refuse_value("bool", value);
  } else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
    return detail::number_from<T>(value);
  } else if constexpr (std::is_floating_point_v<T>) {
    return detail::float_from<T>(value);
  } else if constexpr (detail::Refers<T>) {
    if (value.is_none()) return T();
    if (const auto* const held = value.get_if<ReferencePtr>()) return T::of(*held);
    detail::refuse_value("RRef", value);
  } else if constexpr (std::is_same_v<T, future::AnyFuture>) {
    if (const T* const held = value.get_if<T>()) return *held;
    detail::refuse_value("Future", value);
  } else if constexpr (detail::Held<T>) {
    if (const T* const held = value.get_if<T>()) return *held;
    detail::refuse_value(type_name<T>(), value);
  } else if constexpr (detail::kIsVector<T> || detail::kIsArray<T> || detail::kIsTuple<T>) {
    return detail::items_from<T>(value);
  } else if constexpr (detail::kIsMap<T>) {
    return detail::map_from<T>(value);
  } else if constexpr (detail::kIsOptional<T>) {
    if (value.is_none()) return std::nullopt;
    return from_value<typename T::value_type>(value);
  } else if constexpr (detail::kIsShared<T>) {
    if (auto object = detail::shared_instance_of(value, typeid(typename T::element_type))) {
      return std::static_pointer_cast<typename T::element_type>(std::move(object));
    }
    detail::refuse_value(type_name<T>(), value);
  } else if constexpr (detail::HasFields<T>) {
    return detail::record_from<T>(value);
  } else if constexpr (!std::is_copy_constructible_v<T>) {
    static_assert(!std::is_same_v<T, T>,
                  "RPC: this type cannot be copied out of what was sent; give it DISTRUN_FIELDS, or pass a "
                  "std::shared_ptr of a class that is registered");
    detail::refuse_value(type_name<T>(), value);
  } else {
    if (const void* const object = detail::instance_of(value, typeid(T))) return *static_cast<const T*>(object);
    detail::refuse_value(type_name<T>(), value);
  }
}

}  // namespace distrun::rpc
