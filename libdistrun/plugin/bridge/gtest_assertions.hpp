#pragma once
// Counts GoogleTest's assertions. GoogleTest does not count those that pass, but each assertion begins with one macro,
// which this header redefines.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>

namespace distrun::detail::gtest {

// The number of assertions begun in this process, in sources that include this header.
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
// A switch with one branch, like GoogleTest's own, so that a following `else` cannot bind to it.
#define GTEST_AMBIGUOUS_ELSE_BLOCKER_                  \
  switch (::distrun::detail::gtest::count_assertion()) \
  case 0:                                              \
  default:  // NOLINT
#endif
