#pragma once
// What a destructor does in a forked process with something of its parent's (process_mark.hpp) that has threads, or
// tells peers of its end: nothing of it is ended here. It stays in memory, where leak checkers find it.
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
