#pragma once
// Checks, all of them counted. DISTRUN_EXPECT(a == b) reports a failure with both operands and goes
// on; DISTRUN_REQUIRE ends this rank's body. Both may be used on any thread of the rank; a REQUIRE
// that fails on a helper thread throws CheckFailed there, and that thread must let the body know.
//
// A check takes one comparison; `a && b` is better written as two checks. Each takes a message, which is evaluated only
// if the check fails: DISTRUN_EXPECT(a == b) << "in step " << step. Information about a scope: message.hpp.
#include <string>
#include <string_view>
#include <type_traits>

#include <distrun/common/base/decompose.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/common/base/location.hpp>
#include <distrun/plugin/sdk/message.hpp>

namespace distrun {

// Thrown by a failed REQUIRE, which has been reported already. Not a std::exception, so that a body
// that catches std::exception does not swallow it; one that catches everything still fails.
struct CheckFailed {};

// What DISTRUN_EXPECT_THROWS asks of an error beside its type: a part of its text, the kind of an Error, or both.
class ExpectedError {
 public:
  ExpectedError(const char* part) : part_(part) {}                 // NOLINT: each is written in place of it
  ExpectedError(std::string_view part) : part_(part) {}            // NOLINT
  ExpectedError(const std::string& part) : part_(part) {}          // NOLINT
  ExpectedError(ErrorKind kind) : has_kind_(true), kind_(kind) {}  // NOLINT
  ExpectedError(ErrorKind kind, std::string_view part) : part_(part), has_kind_(true), kind_(kind) {}

  // Why it is another error: "text without ...", "kind timeout, expected ..."; empty if it is this one. `error` is null
  // if what was thrown has no kind.
  std::string difference(std::string_view text, const Error* error) const;

 private:
  std::string part_;
  bool has_kind_ = false;
  ErrorKind kind_ = ErrorKind::Failed;
};

namespace detail {

// What the source says: DISTRUN_EXPECT(expression) at `where`.
struct CheckSite {
  const char* macro;
  const char* expression;
  base::Location where;
};

void check_passed() noexcept;
// Keeps why a check has failed for the FailedCheck that this thread creates next.
void keep_reason(const std::string& reason);
[[noreturn]] void fail(const std::string& text, base::Location where);

inline bool holds(const base::CheckResult& result) {
  if (result.holds) {
    check_passed();
  } else {
    keep_reason(result.operands);
  }
  return result.holds;
}

// Of a check that says itself what is wrong; empty if nothing is.
inline bool nothing_is_wrong(const std::string& reason) { return holds({reason.empty(), reason}); }

// Collects the message of a check that has failed.
class FailedCheck {
 public:
  explicit FailedCheck(const CheckSite& site);

  template <class T>
  FailedCheck& operator<<(const T& value) {
    message_ << value;
    return *this;
  }
  FailedCheck& operator<<(std::ostream& (*manipulator)(std::ostream&)) {
    message_ << manipulator;
    return *this;
  }

  // "EXPECT(a == b)", and what is known of it on further lines.
  std::string text() const;
  base::Location where() const noexcept { return site_.where; }

 private:
  CheckSite site_;
  std::string reason_;
  Message message_;
};

// Their & comes after every << of the message, and gives the check's two branches one type.
struct Expect {
  void operator&(const FailedCheck& check) const;
};
struct Require {
  [[noreturn]] void operator&(const FailedCheck& check) const;
};

// Of the exception being handled: "threw std::bad_alloc: ...". Lets through what ends a body
// whatever was expected: a failed REQUIRE, a skip, the failure of another rank.
std::string name_what_was_thrown();
// The same with what is different about it.
std::string name_what_was_thrown(const std::string& difference);

// The error's kind is known if it is an Error behind a type that Errors may have.
template <class T>
const Error* as_error(const T& thrown) {
  if constexpr (std::is_base_of_v<Error, T>) {
    return &thrown;
  } else if constexpr (std::is_base_of_v<T, Error> && std::is_polymorphic_v<T>) {
    return dynamic_cast<const Error*>(&thrown);
  } else {
    return nullptr;
  }
}

// Runs `body`; empty if it threw the T that is expected, else what happened instead.
template <class T, class Body>
std::string what_instead_of(Body&& body, const ExpectedError& expected) {
  try {
    body();
  } catch (const T& thrown) {
    const char* const what = thrown.what();
    const std::string difference = expected.difference(what != nullptr ? what : "", as_error(thrown));
    return difference.empty() ? "" : name_what_was_thrown(difference);
  } catch (...) {
    return name_what_was_thrown();
  }
  return "did not throw";
}

}  // namespace detail
}  // namespace distrun

// An expression, so that a message may follow, and so that `if (a) DISTRUN_EXPECT(b); else ...` is what it looks like.
#define DISTRUN_DETAIL_JUDGE(condition, Judge, macro, text) \
  condition                                                 \
      ? static_cast<void>(0)                                \
      : ::distrun::detail::Judge() & ::distrun::detail::FailedCheck({macro, text, ::distrun::base::Location::here()})

// The expression's text is made by the outermost macro, before anything in it is expanded.
#define DISTRUN_DETAIL_CHECK(Judge, macro, text, ...) \
  DISTRUN_DETAIL_JUDGE(::distrun::detail::holds(::distrun::base::Decompose() <=> __VA_ARGS__), Judge, macro, text)

#define DISTRUN_DETAIL_CHECK_THROWS(macro, text, Type, expected, ...)                                                \
  DISTRUN_DETAIL_JUDGE(                                                                                              \
      ::distrun::detail::nothing_is_wrong(::distrun::detail::what_instead_of<Type>([&] { __VA_ARGS__; }, expected)), \
      Expect, macro, text)

#define DISTRUN_EXPECT(...) DISTRUN_DETAIL_CHECK(Expect, "EXPECT", #__VA_ARGS__, __VA_ARGS__)
#define DISTRUN_REQUIRE(...) DISTRUN_DETAIL_CHECK(Require, "REQUIRE", #__VA_ARGS__, __VA_ARGS__)

// The second argument is a part of the error's text, its kind, or both:
//   DISTRUN_EXPECT_THROWS(distrun::Error, "no such rank", rank.send(9, "", ""));
//   DISTRUN_EXPECT_THROWS(distrun::Error, distrun::ErrorKind::Timeout, rank.receive(1, "x", 10ms));
//   DISTRUN_EXPECT_THROWS(distrun::Error, distrun::ExpectedError(distrun::ErrorKind::Timeout, "10 ms"), f());
#define DISTRUN_EXPECT_THROWS(Type, expected, ...) \
  DISTRUN_DETAIL_CHECK_THROWS("EXPECT_THROWS", #Type ", " #expected ", " #__VA_ARGS__, Type, expected, __VA_ARGS__)

// Fails this rank's body with a text.
#define DISTRUN_FAIL(text) ::distrun::detail::fail(text, ::distrun::base::Location::here())
