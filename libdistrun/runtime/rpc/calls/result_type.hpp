#pragma once
// What the future of a call is of. The answer becomes its value on the thread that brings it, with no other future in
// between: that would cost as much as all the rest of a call.
#include <exception>
#include <memory>
#include <type_traits>
#include <utility>

#include <distrun/runtime/future/future.hpp>
#include <distrun/runtime/rpc/values/convert.hpp>

namespace distrun::rpc {

struct ResultType {
  std::shared_ptr<future::FutureState> (*make)(future::FutureInfo info);
  // Completes it. What is wrong with the value becomes the future's error.
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
