#pragma once
// The one exception type. Its kind says what a catcher can do; its type name travels between ranks and programs, so
// that the receiver can rebuild the same error. A failed, crashed or hung test is a value: runner/record/outcome.hpp.
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <distrun/common/base/location.hpp>

namespace distrun::base {

// What a catcher of an Error can do about it.
enum class ErrorKind : std::uint8_t {
  Failed,           // can only be reported
  InvalidArgument,  // the caller can pass other arguments
  Overloaded,       // a limit was reached; later, or less, may work
  Disconnected,     // the peer is gone; a new connection may work
  Timeout,          // a time limit expired
  Cancelled,        // the work was cancelled
  Unimplemented,    // the peer does not support this
};
const char* name_of(ErrorKind kind) noexcept;  // "failed", "invalid argument"

// A value type; copies share nothing. As thread-safe as any value.
class Error : public std::exception {
 public:
  // `type` is the name that travels; RuntimeError if not given.
  Error(ErrorKind kind, std::string text, Location where = Location::here());
  Error(ErrorKind kind, std::string type, std::string text, Location where = Location::here());

  ErrorKind kind() const noexcept { return kind_; }                              // what the catcher can do
  const std::string& type() const noexcept { return type_; }                     // the name that travels: "ValueError"
  const std::string& text() const noexcept { return text_; }                     // without context and type
  const Location& where() const noexcept { return where_; }                      // where it was constructed
  const std::vector<std::string>& context() const noexcept { return context_; }  // what was being done, innermost first
  // of an error from another rank
  const std::optional<std::string>& remote_trace() const noexcept { return remote_trace_; }
  // Returns the rank that caused this error by its failure or exit, -1 if unknown.
  int because_of() const noexcept { return because_of_; }

  // Adds what was being done, outermost last: "load plugin ring.so". Returns *this, to be rethrown.
  Error& while_doing(std::string what);
  // Sets the stack at the throw on another rank. Returns *this.
  Error& with_remote_trace(std::string trace);
  // Sets the rank that caused the error, unless one is set; -1 sets none.
  Error& with_cause(int rank) noexcept;

  // Returns "load plugin ring.so: cannot open ring.so: No such file". Valid as long as the error.
  const char* what() const noexcept override { return what_.c_str(); }

 private:
  void compose();

  ErrorKind kind_;
  std::string type_;
  std::string text_;
  Location where_;
  std::vector<std::string> context_;
  std::optional<std::string> remote_trace_;
  int because_of_ = -1;
  std::string what_;
};

// Thrown if a wait cannot complete because another rank failed, died, or finished without arriving. If it leaves the
// test, the report shows it as a consequence of that rank's failure. Its kind is Disconnected.
class PeerFailed : public Error {
 public:
  // `rank` is the rank that failed, -1 if unknown.
  PeerFailed(std::string why, int rank, Location where = Location::here())
      : Error(ErrorKind::Disconnected, "PeerFailed", std::move(why), where) {
    with_cause(rank);
  }
  int rank() const noexcept { return because_of(); }  // -1 if unknown
};

// Throws Error{Failed} with the text of `number` (an errno) appended: "cannot open x: Permission denied".
[[noreturn]] void throw_errno(const std::string& what, int number, Location where = Location::here());
// Returns "Permission denied (EACCES)" for an errno, with the limit that caused it (limits.hpp). Accepts any number.
std::string errno_text(int number);
// Returns what(), or a text that says that it is null, which the what() of a user's class may return.
const char* what_of(const std::exception& thrown) noexcept;
// Like errno_text(), for a call that creates a process or a thread: there EAGAIN means a limit, too.
std::string fork_errno_text(int number);

}  // namespace distrun::base

namespace distrun {
using base::Error;
using base::ErrorKind;
using base::PeerFailed;
}  // namespace distrun
