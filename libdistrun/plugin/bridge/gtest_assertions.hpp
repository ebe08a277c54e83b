#pragma once
// Counts the assertions of GoogleTest. It keeps no number of those that hold, but each assertion
// begins with one macro, which is made to count here.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>

namespace distrun::detail::gtest {

// So many began in this process, in sources that saw this header.
inline std::atomic<std::uint64_t>& assertions() noexcept {
  static std::atomic<std::uint64_t> count{0};
  return count;
}

inline int count_assertion() noexcept {
  assertions().fetch_add(1, std::memory_order_relaxed);
  return 0;
}

}  // namespace distrun::detail::gtest

#ifdef GTEST_AMBIGUOUS_ELSE_BLOCKER_
#undef GTEST_AMBIGUOUS_ELSE_BLOCKER_
// A switch of one way, as GoogleTest's own: an `else` after it cannot be taken for its.
#define GTEST_AMBIGUOUS_ELSE_BLOCKER_                  \
  switch (::distrun::detail::gtest::count_assertion()) \
  case 0:                                              \
  default:  // NOLINT
#endif
