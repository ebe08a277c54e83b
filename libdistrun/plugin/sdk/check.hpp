#pragma once
// Checks; all are counted. DISTRUN_EXPECT(a == b) reports a failure with both operands and goes on; DISTRUN_REQUIRE
// ends this rank's body. Both work on any thread of the rank; a REQUIRE that fails on a helper thread throws
// CheckFailed there, and that thread must notify the body.
//
// A check takes one comparison; write `a && b` as two checks. A check also takes a message, evaluated only if it fails:
// DISTRUN_EXPECT(a == b) << "in step " << step. For information about a scope see message.hpp.
#include <string>
#include <string_view>
#include <type_traits>

#include <distrun/common/base/decompose.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/common/base/location.hpp>
#include <distrun/plugin/sdk/message.hpp>

namespace distrun {

// Thrown by a failed REQUIRE, which has been reported already. Not a std::exception, so that a body that catches
// std::exception does not swallow it. If the body catches everything, the test fails all the same.
struct CheckFailed {};

// Requirements of DISTRUN_EXPECT_THROWS besides the type: a part of the text, the kind of an Error, or both.
class ExpectedError {
 public:
  // Expects a text that contains `part`.
  ExpectedError(const char* part) : part_(part) {}         // NOLINT: implicit on purpose
  ExpectedError(std::string_view part) : part_(part) {}    // NOLINT
  ExpectedError(const std::string& part) : part_(part) {}  // NOLINT
  // Expects an Error of that kind.
  ExpectedError(ErrorKind kind) : has_kind_(true), kind_(kind) {}  // NOLINT
  // Expects both.
  ExpectedError(ErrorKind kind, std::string_view part) : part_(part), has_kind_(true), kind_(kind) {}

  // Returns how the error differs: "text without ...", "kind timeout, expected ..."; empty if it matches. `error` is
  // null if the exception has no kind.
  std::string difference(std::string_view text, const Error* error) const;

 private:
  std::string part_;
  bool has_kind_ = false;
  ErrorKind kind_ = ErrorKind::Failed;
};

namespace detail {

// The check in the source: DISTRUN_EXPECT(expression) at `where`.
struct CheckSite {
  const char* macro;
  const char* expression;
  base::Location where;
};

void check_passed() noexcept;
// Stores why a check has failed for the next FailedCheck of this thread.
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

// Takes the failure text of a check, which is empty on success.
inline bool nothing_is_wrong(const std::string& reason) { return holds({reason.empty(), reason}); }

// Collects the message of a failed check.
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

  // Returns "EXPECT(a == b)", and details on further lines.
  std::string text() const;
  base::Location where() const noexcept { return site_.where; }

 private:
  CheckSite site_;
  std::string reason_;
  Message message_;
};

// Their & binds after every << of the message, and gives both branches of the check the same type.
struct Expect {
  void operator&(const FailedCheck& check) const;
};
struct Require {
  [[noreturn]] void operator&(const FailedCheck& check) const;
};

// Describes the exception being handled: "threw std::bad_alloc: ...". Lets through exceptions that always end the body:
// a failed REQUIRE, a skip, the failure of another rank.
std::string name_what_was_thrown();
// The same, with the difference from the expected error.
std::string name_what_was_thrown(const std::string& difference);

// Returns the exception as an Error, if it is one, also through a base class of Error.
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

// Runs `body`. Returns an empty text if it threw the expected T, else what happened instead.
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

// An expression, so that a message may follow and `if (a) DISTRUN_EXPECT(b); else ...` works as written.
#define DISTRUN_DETAIL_JUDGE(condition, Judge, macro, text) \
  condition                                                 \
      ? static_cast<void>(0)                                \
      : ::distrun::detail::Judge() & ::distrun::detail::FailedCheck({macro, text, ::distrun::base::Location::here()})

// The outermost macro stringifies the expression, before macros in it are expanded.
#define DISTRUN_DETAIL_CHECK(Judge, macro, text, ...) \
  DISTRUN_DETAIL_JUDGE(::distrun::detail::holds(::distrun::base::Decompose() <=> __VA_ARGS__), Judge, macro, text)

#define DISTRUN_DETAIL_CHECK_THROWS(macro, text, Type, expected, ...)                                                \
  DISTRUN_DETAIL_JUDGE(                                                                                              \
      ::distrun::detail::nothing_is_wrong(::distrun::detail::what_instead_of<Type>([&] { __VA_ARGS__; }, expected)), \
      Expect, macro, text)

// Checks a comparison or a condition. If it does not hold, reports both operands and goes on; the rank fails. A message
// may follow with `<<`. Any thread of the rank.
#define DISTRUN_EXPECT(...) DISTRUN_DETAIL_CHECK(Expect, "EXPECT", #__VA_ARGS__, __VA_ARGS__)
// Like DISTRUN_EXPECT, but ends the rank's body by throwing CheckFailed.
#define DISTRUN_REQUIRE(...) DISTRUN_DETAIL_CHECK(Require, "REQUIRE", #__VA_ARGS__, __VA_ARGS__)

// Checks that code throws an exception of `Type`, and goes on if not. The second argument is a part of the error's
// text, its kind, or both:
#define DISTRUN_EXPECT_THROWS(Type, expected, ...) \
  DISTRUN_DETAIL_CHECK_THROWS("EXPECT_THROWS", #Type ", " #expected ", " #__VA_ARGS__, Type, expected, __VA_ARGS__)

// Fails this rank's body with a text.
#define DISTRUN_FAIL(text) ::distrun::detail::fail(text, ::distrun::base::Location::here())
