#pragma once
// Finds the tensors in a value, so that the streams that compute it are known. They are found in tensors (indices and
// values of sparse ones), in containers, pairs, tuples, optionals, variants and pointers of the standard library, and
// in classes with visit_tensors():
//
//   struct Batch {
//     Tensor inputs, labels;
//     std::mutex mutex;
//     void visit_tensors(const future::TensorVisitor& visit) const {
//       visit(inputs);
//       visit(labels);
//     }
//   };
//
// Other classes are not searched.
#include <functional>
#include <memory>
#include <optional>
#include <ranges>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::future {

using TensorVisitor = std::function<void(const Tensor&)>;  // called once for each tensor

// A class with visit_tensors(): see the top of this header.
template <class T>
concept ShowsTensors = requires(const T& value, const TensorVisitor& visit) {
  value.visit_tensors(visit);
};

// A pair, tuple or array.
template <class T>
concept TupleLike = requires {
  std::tuple_size<T>::value;
};

// A pointer or an optional; null is skipped.
template <class T>
concept PointerLike = requires(const T& value) {
  *value;
  static_cast<bool>(value);
}
&&!std::ranges::range<T>;

// Whether T is a std::variant.
template <class T>
inline constexpr bool kIsVariant = false;
template <class... T>
inline constexpr bool kIsVariant<std::variant<T...>> = true;

// Whether T holds no tensors: a number, an enum or a text.
template <class T>
inline constexpr bool kIsPlain =
    (std::is_scalar_v<T> && !std::is_pointer_v<T>) || std::is_convertible_v<const T&, std::string_view>;

// Calls `visit` for each defined tensor, in order.
template <class T>
void visit_tensors([[maybe_unused]] const T& value, [[maybe_unused]] const TensorVisitor& visit) {
  if constexpr (std::is_same_v<T, Tensor>) {
    if (value.defined()) visit(value);
  } else if constexpr (ShowsTensors<T>) {
    value.visit_tensors(visit);
  } else if constexpr (kIsPlain<T>) {
    return;
  } else if constexpr (kIsVariant<T>) {
    if (!value.valueless_by_exception()) std::visit([&](const auto& held) { visit_tensors(held, visit); }, value);
  } else if constexpr (std::ranges::range<const T>) {
    for (const auto& each : value) visit_tensors(each, visit);
  } else if constexpr (TupleLike<T>) {
    std::apply([&](const auto&... each) { (visit_tensors(each, visit), ...); }, value);
  } else if constexpr (PointerLike<T>) {
    if (value) visit_tensors(*value, visit);
  }
}

}  // namespace distrun::future
