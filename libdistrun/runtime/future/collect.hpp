#pragma once
// Combines several futures.
//
//   collect_all(futures)   done when all are, with an error or without; its value is the futures
//   wait_all(futures)      their values, in their order; throws the error of the first that fails, at once
#include <distrun/common/base/if_memory.hpp>
#include <distrun/runtime/future/future.hpp>

namespace distrun::future {

// Describes futures that are waited for together: one wait, for the ranks of all. The wait helps the first future that
// is not done and has a Progress.
FutureInfo info_of_all(const std::vector<std::shared_ptr<FutureState>>& states, const char* name, base::Location site);

// Returns the states of futures, in their order.
template <class T>
std::vector<std::shared_ptr<FutureState>> states_of(const std::vector<Future<T>>& futures) {
  std::vector<std::shared_ptr<FutureState>> states;
  for (const Future<T>& each : futures) states.push_back(each.state());
  return states;
}

// Called once for each future, by the thread that completes it, with its number and the future; or with the reason why
// it was destroyed before it was done.
using Told = std::function<void(std::size_t number, const std::shared_ptr<FutureState>& done, std::exception_ptr gone)>;
// Keeps only futures that are done: others would form a reference cycle.
void tell_each_done(const std::vector<std::shared_ptr<FutureState>>& states, Told told);

namespace detail {

// Returns a state with the error of a future that was destroyed; null if out of memory.
template <class T>
std::shared_ptr<FutureState> ended_state(const FutureInfo& info, const std::exception_ptr& gone) noexcept {
  const auto make = [&]() -> std::shared_ptr<FutureState> {
    auto state = std::make_shared<TypedState<T>>(info);
    state->end(gone);
    return state;
  };
  return base::if_memory(make, [] { return std::shared_ptr<FutureState>(); });
}

// Throws std::bad_alloc, also if one of the states is null.
template <class T>
std::vector<Future<T>> futures_of(const std::vector<std::shared_ptr<FutureState>>& states) {
  std::vector<Future<T>> futures;
  for (const auto& each : states) {
    if (each == nullptr) throw std::bad_alloc();
    futures.push_back(Future<T>::of(each));
  }
  return futures;
}

}  // namespace detail

// Returns a future that is done when all are, with an error or without; its value is the futures, all done. A future
// that is destroyed before it is done counts as failed.
template <class T>
Future<std::vector<Future<T>>> collect_all(const std::vector<Future<T>>& futures,
                                           base::Location site = base::Location::here()) {
  struct Collected {
    std::vector<std::shared_ptr<FutureState>> done;
    std::atomic<std::size_t> left;
  };
  const auto states = states_of(futures);
  const auto all = Future<std::vector<Future<T>>>::of(info_of_all(states, "collect_all", site));
  if (futures.empty()) all.set_result({}, site);
  const auto collected = std::make_shared<Collected>();
  collected->done.resize(futures.size());
  collected->left = futures.size();
  tell_each_done(states, [collected, all](std::size_t number, const auto& done, const std::exception_ptr& gone) {
    collected->done[number] = done != nullptr ? done : detail::ended_state<T>(all.state()->info(), gone);
    if (--collected->left != 0 || !all.state()->try_begin()) return;
    auto& state = static_cast<TypedState<std::vector<Future<T>>>&>(*all.state());
    const auto store = [&] { state.store(detail::futures_of<T>(collected->done)); };
    base::if_memory(store, [&] { state.end(std::current_exception()); });
  });
  return all;
}

// Blocks until all are done or one has failed. The others then continue, and their errors count as seen.
void wait_for_all(const std::vector<std::shared_ptr<FutureState>>& states, std::optional<base::Nanoseconds> timeout,
                  base::Location site);

// Throws as Future::wait(). Returns nothing for Future<void>.
template <class T>
auto wait_all(const std::vector<Future<T>>& futures, std::optional<base::Nanoseconds> timeout = {},
              base::Location site = base::Location::here()) {
  wait_for_all(states_of(futures), timeout, site);
  if constexpr (!std::is_void_v<T>) {
    std::vector<T> values;
    for (const Future<T>& each : futures) values.push_back(each.wait());
    return values;
  }
}

}  // namespace distrun::future

namespace distrun {
using future::collect_all;
using future::wait_all;
}  // namespace distrun
