#pragma once
// Checks, all of them counted. DISTRUN_EXPECT(a == b) reports a failure with both operands and goes
// on; DISTRUN_REQUIRE ends this rank's body. Both may be used on any thread of the rank; a REQUIRE
// that fails on a helper thread throws CheckFailed there, and that thread must let the body know.
//
// A check takes one comparison; `a && b` is better written as two checks.
#include <string>
#include <string_view>

#include <distrun/common/base/decompose.hpp>
#include <distrun/common/base/location.hpp>

namespace distrun {

// Thrown by a failed REQUIRE, which has been reported already. Not a std::exception, so that a body
// that catches std::exception does not swallow it; one that catches everything still fails.
struct CheckFailed {};

namespace detail {

// What the source says: DISTRUN_EXPECT(expression) at `where`.
struct CheckSite {
  const char* macro;
  const char* expression;
  base::Location where;
};

void check_passed() noexcept;
void expect_failed(const CheckSite& site, const std::string& operands);
[[noreturn]] void require_failed(const CheckSite& site, const std::string& operands);
[[noreturn]] void fail(const std::string& text, base::Location where);

inline void expect(const base::CheckResult& result, const CheckSite& site) {
  if (result.holds) return check_passed();
  expect_failed(site, result.operands);
}

inline void require(const base::CheckResult& result, const CheckSite& site) {
  if (result.holds) return check_passed();
  require_failed(site, result.operands);
}

// `instead` is empty if the right thing was thrown.
void expect_thrown(const std::string& instead, const CheckSite& site);
// Of the exception being handled: "threw std::bad_alloc: ...". Lets through what ends a body
// whatever was expected: a failed REQUIRE, a skip, the failure of another rank.
std::string name_what_was_thrown();

// Runs `body`; empty if it threw a T whose what() holds `text`, else what happened instead.
template <class T, class Body>
std::string what_instead_of(Body&& body, std::string_view text) {
  try {
    body();
  } catch (const T& error) {
    if (std::string_view(error.what()).find(text) != std::string_view::npos) return "";
    return name_what_was_thrown();
  } catch (...) {
    return name_what_was_thrown();
  }
  return "did not throw";
}

}  // namespace detail
}  // namespace distrun

// The expression's text is made by the outermost macro, before anything in it is expanded.
// The formatter takes _Pragma for an expression.
// clang-format off
#define DISTRUN_DETAIL_CHECK(judge, macro, text, ...)                              \
  do {                                                                             \
    _Pragma("GCC diagnostic push")                                                 \
    _Pragma("GCC diagnostic ignored \"-Wparentheses\"")                            \
    ::distrun::detail::judge(::distrun::base::Decompose() << __VA_ARGS__,          \
                             {macro, text, ::distrun::base::Location::here()});    \
    _Pragma("GCC diagnostic pop")                                                  \
  } while (false)
// clang-format on

#define DISTRUN_DETAIL_CHECK_THROWS(macro, text, Type, part, ...)                                        \
  ::distrun::detail::expect_thrown(::distrun::detail::what_instead_of<Type>([&] { __VA_ARGS__; }, part), \
                                   {macro, text, ::distrun::base::Location::here()})

#define DISTRUN_EXPECT(...) DISTRUN_DETAIL_CHECK(expect, "EXPECT", #__VA_ARGS__, __VA_ARGS__)
#define DISTRUN_REQUIRE(...) DISTRUN_DETAIL_CHECK(require, "REQUIRE", #__VA_ARGS__, __VA_ARGS__)

// DISTRUN_EXPECT_THROWS(distrun::Error, "no such rank", rank.send(9, "", ""))
#define DISTRUN_EXPECT_THROWS(Type, part, ...) \
  DISTRUN_DETAIL_CHECK_THROWS("EXPECT_THROWS", #Type ", " #part ", " #__VA_ARGS__, Type, part, __VA_ARGS__)

// Fails this rank's body with a text.
#define DISTRUN_FAIL(text) ::distrun::detail::fail(text, ::distrun::base::Location::here())
