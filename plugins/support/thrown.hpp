#pragma once
// Captures what a call throws, for a check that shows type and text if it fails:
//
//   DISTRUN_EXPECT(thrown_by([&] { future.wait(); }) == an_error("ValueError", "Expected error"));
#include <iosfwd>
#include <optional>
#include <string>

#include <distrun/common/base/error.hpp>

namespace distrun::suites {

struct Thrown {
  std::string type;  // empty: nothing was thrown
  std::string text;
  std::optional<ErrorKind> kind;
};
std::ostream& operator<<(std::ostream& out, const Thrown& thrown);

struct WantedError {
  std::string type;  // empty: any type of that kind
  std::string part;  // of its text
  std::optional<ErrorKind> kind{};
};
std::ostream& operator<<(std::ostream& out, const WantedError& expected);
// Returns false if neither type nor kind is given: that would accept any error.
bool operator==(const Thrown& thrown, const WantedError& expected);

// "RuntimeError" is the generic type.
inline WantedError an_error(std::string type, std::string part) { return {std::move(type), std::move(part)}; }
// The error of a call that was not answered in time.
inline WantedError a_timeout() { return {"RuntimeError", "RPC ran for more than", ErrorKind::Timeout}; }
// The error for a worker that has left or is gone.
inline WantedError a_lost_worker() { return {"RuntimeError", "", ErrorKind::Disconnected}; }

// Does not catch exceptions other than Error, nor PeerFailed: no test expects another rank's failure.
template <class Call>
Thrown thrown_by(Call call) {
  try {
    call();
  } catch (const PeerFailed&) {
    throw;
  } catch (const Error& error) {
    return {error.type(), error.what(), error.kind()};
  }
  return {};
}

}  // namespace distrun::suites
