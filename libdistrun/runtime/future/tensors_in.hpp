#pragma once
// Which tensors a value holds, so that whoever hands it over knows what streams have made it. They are found in tensors
// (of sparse ones the indices and the values), in containers, pairs, tuples, optionals, variants and pointers of the
// standard library, and in classes that show theirs:
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
// In any other class none are looked for.
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

using TensorVisitor = std::function<void(const Tensor&)>;

template <class T>
concept ShowsTensors = requires(const T& value, const TensorVisitor& visit) {
  value.visit_tensors(visit);
};

template <class T>
concept TupleLike = requires {
  std::tuple_size<T>::value;
};

template <class T>
concept PointerLike = requires(const T& value) {
  *value;
  static_cast<bool>(value);
}
&&!std::ranges::range<T>;

template <class T>
inline constexpr bool kIsVariant = false;
template <class... T>
inline constexpr bool kIsVariant<std::variant<T...>> = true;

template <class T>
inline constexpr bool kIsPlain =
    (std::is_scalar_v<T> && !std::is_pointer_v<T>) || std::is_convertible_v<const T&, std::string_view>;

// Calls `visit` for each defined tensor, in the order in which they stand.
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
