#pragma once
// Rebuilds values with replaced tensors, so that any input of a network can be moved to its device. Finds tensors in
// containers, pairs, tuples, optionals and variants of the standard library, and in structs that name their fields:
//
//   struct Batch {
//     Tensor a, b;
//   };
//   DISTRUN_FIELDS(Batch, m.a, m.b)
//
// Any other value is left unchanged.
#include <functional>
#include <map>
#include <optional>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::nn {

using TensorMap = std::function<Tensor(const Tensor&)>;

struct Rebuild;

template <class T>
concept NamesFields = std::is_class_v<T> && requires(Rebuild& rebuild, T& value) {
  fields(rebuild, value);
};

// Calls `map` for each defined tensor in a value, in order, and replaces the tensor by the result.
struct Rebuild {
  const TensorMap& map;

  void one(Tensor& tensor) const {
    if (tensor.defined()) tensor = map(tensor);
  }
  template <class T>
  void one(std::vector<T>& values) const {
    for (T& each : values) one(each);
  }
  template <class Key, class T>
  void one(std::map<Key, T>& values) const {
    for (auto& [key, each] : values) one(each);
  }
  template <class Key, class T>
  void one(std::unordered_map<Key, T>& values) const {
    for (auto& [key, each] : values) one(each);
  }
  template <class A, class B>
  void one(std::pair<A, B>& values) const {
    one(values.first);
    one(values.second);
  }
  template <class... T>
  void one(std::tuple<T...>& values) const {
    std::apply([this](T&... each) { (one(each), ...); }, values);
  }
  template <class T>
  void one(std::optional<T>& value) const {
    if (value) one(*value);
  }
  template <class... T>
  void one(std::variant<T...>& value) const {
    std::visit([this](auto& held) { one(held); }, value);
  }
  template <class T>
  void one(T& value) const {
    if constexpr (NamesFields<T>) fields(*this, value);
  }

  // The target of a struct's DISTRUN_FIELDS.
  template <class... Fields>
  void operator()(Fields&... values) const {
    (one(values), ...);
  }
};

template <class T>
T rebuilt(T value, const TensorMap& map) {
  Rebuild{map}.one(value);
  return value;
}

}  // namespace distrun::nn
