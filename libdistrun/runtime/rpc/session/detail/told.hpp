#pragma once
// What became of telling the followers of a meeting what all have, as their leader's error.
#include <optional>
#include <string>
#include <vector>

#include <distrun/common/base/clock.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/runtime/future/future.hpp>
#include <distrun/runtime/rpc/values/value.hpp>

namespace distrun::rpc {

// Of one follower.
struct Told {
  std::string name;
  std::optional<future::Future<Value>> call;
  std::string error;  // empty: it was told
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

// Throws Error{Disconnected} if some are lost, which explains why others are late; Error{Timeout}, "Followers [worker1]
// timed out in _all_gather after 5.00 seconds", if `limit` was over for some; else Error{Failed}. Each with the names,
// and the first of their errors. They were told from `begin` on.
[[noreturn]] void throw_untold(const std::vector<Told>& all, base::Nanoseconds limit, base::TimePoint begin,
                               base::Location site);

}  // namespace distrun::rpc
