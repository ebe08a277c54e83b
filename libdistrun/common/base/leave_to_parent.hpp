#pragma once
// For destructors in a forked process: keeps an object of the parent (process_mark.hpp) that has threads, or tells
// peers of its end, without destroying it. Leak checkers find it, as it can be reached.
#include <memory>
#include <utility>

namespace distrun::base {

namespace detail {
void keep_for_good(std::shared_ptr<const void> owned);
}

template <class T>
void leave_to_parent(T owned) {
  detail::keep_for_good(std::make_shared<T>(std::move(owned)));
}

}  // namespace distrun::base
