#pragma once
// The one exception type. Its kind says what a catcher can do; its type name is what travels between
// ranks and programs, so that the same error can be rebuilt on the other side.
// A test that fails, crashes or hangs is not an Error but a value: runner/record/outcome.hpp.
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <distrun/common/base/location.hpp>

namespace distrun::base {

enum class ErrorKind : std::uint8_t {
  Failed,           // nothing to do but report it
  InvalidArgument,  // the caller can ask differently
  Overloaded,       // a limit was reached; later, or less, may work
  Disconnected,     // the other side is gone; a new connection may work
  Timeout,          // a bound ran out
  Cancelled,        // somebody asked for the end
  Unimplemented,    // the other side does not know this
};
const char* name_of(ErrorKind kind) noexcept;

// A value type; copies share nothing. Thread-safe as any value is.
class Error : public std::exception {
 public:
  // `type` is the name that travels; RuntimeError unless the thrower knows better.
  Error(ErrorKind kind, std::string text, Location where = Location::here());
  Error(ErrorKind kind, std::string type, std::string text, Location where = Location::here());

  ErrorKind kind() const noexcept { return kind_; }
  const std::string& type() const noexcept { return type_; }
  const std::string& text() const noexcept { return text_; }
  const Location& where() const noexcept { return where_; }
  const std::vector<std::string>& context() const noexcept { return context_; }
  const std::optional<std::string>& remote_trace() const noexcept { return remote_trace_; }
  // The rank from whose failure or end this one follows; -1: none is known.
  int because_of() const noexcept { return because_of_; }

  // Adds what was being done, outermost last: "load plugin ring.so". Returns *this, to be rethrown.
  Error& while_doing(std::string what);
  Error& with_remote_trace(std::string trace);
  // Names that rank, unless one is named already; -1 names none.
  Error& with_cause(int rank) noexcept;

  // "load plugin ring.so: cannot open ring.so: No such file". Valid as long as the error.
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

// A wait can't end well because another rank failed, died, or finished without coming. A test that lets it out is
// reported as a consequence of that rank's failure. Its kind is Disconnected.
class PeerFailed : public Error {
 public:
  PeerFailed(std::string why, int rank, Location where = Location::here())
      : Error(ErrorKind::Disconnected, "PeerFailed", std::move(why), where) {
    with_cause(rank);
  }
  int rank() const noexcept { return because_of(); }  // -1 if none is known
};

// Failed, with the text of `number` (an errno) appended: "cannot open x: Permission denied".
[[noreturn]] void throw_errno(const std::string& what, int number, Location where = Location::here());
// "Permission denied (EACCES)" style text of an errno, with the limit that is behind it (limits.hpp); never throws on
// unknown numbers.
std::string errno_text(int number);
// Returns what(), or a text that says that it is null: exceptions of users' classes may return that.
const char* what_of(const std::exception& thrown) noexcept;
// The same for a call that makes a process or a thread: its EAGAIN is a limit, too.
std::string fork_errno_text(int number);

}  // namespace distrun::base

namespace distrun {
using base::Error;
using base::ErrorKind;
using base::PeerFailed;
}  // namespace distrun
