#pragma once
// The outcome of sending the gathered map to the followers, as an error on the leader.
#include <optional>
#include <string>
#include <vector>

#include <distrun/common/base/clock.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/runtime/future/future.hpp>
#include <distrun/runtime/rpc/values/value.hpp>

namespace distrun::rpc {

// The outcome for one follower.
struct Told {
  std::string name;
  std::optional<future::Future<Value>> call;
  std::string error;  // empty: no error
  ErrorKind kind{};

  int because_of = -1;

  void fail(const Error& why) {
    error = why.type() + ": " + why.what();
    kind = why.kind();
    because_of = why.because_of();
  }
};

double in_seconds(base::Nanoseconds duration);
std::string number_text(const char* format, double number);

// Throws Error{Disconnected} if some followers are lost, which explains why others are late; Error{Timeout}, "Followers
// [worker1] timed out in _all_gather after 5.00 seconds", if `limit` was exceeded for some; else Error{Failed}. Each
// error lists the followers and their first error.
[[noreturn]] void throw_untold(const std::vector<Told>& all, base::Nanoseconds limit, base::Location site);

}  // namespace distrun::rpc
