#pragma once
// The type of a call's future. The thread that receives the answer stores the value directly: an intermediate future
// would cost as much as the rest of the call.
#include <exception>
#include <memory>
#include <type_traits>
#include <utility>

#include <distrun/runtime/future/future.hpp>
#include <distrun/runtime/rpc/values/convert.hpp>

namespace distrun::rpc {

struct ResultType {
  std::shared_ptr<future::FutureState> (*make)(future::FutureInfo info);
  // Completes the future; errors of the conversion are stored in it.
  void (*store)(future::FutureState& begun, Value&& value) noexcept;
};

namespace detail {

template <class T>
std::shared_ptr<future::FutureState> make_state(future::FutureInfo info) {
  return std::make_shared<future::TypedState<T>>(std::move(info));
}

template <class T>
void store_value(future::FutureState& begun, Value&& value) noexcept {
  auto& state = static_cast<future::TypedState<T>&>(begun);
  if constexpr (std::is_same_v<T, Value>) {
    state.store(std::move(value));
  } else if constexpr (std::is_void_v<T>) {
    state.store({});
  } else {
    try {
      state.store(from_value<T>(value));
    } catch (...) {
      state.end(std::current_exception());
    }
  }
}

}  // namespace detail

template <class T>
inline constexpr ResultType kResultOf{&detail::make_state<T>, &detail::store_value<T>};

}  // namespace distrun::rpc
