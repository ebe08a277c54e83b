#pragma once
// Used by destructors in a forked process: keeps, instead of destroying, an object of the parent (process_mark.hpp)
// that has threads or would notify peers. It stays reachable, so leak checkers do not report it.
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
