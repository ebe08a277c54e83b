#include <distrun/runtime/rpc/session/detail/told.hpp>

#include <cstdio>

namespace distrun::rpc {

double in_seconds(base::Nanoseconds duration) { return std::chrono::duration<double>(duration).count(); }

std::string number_text(const char* format, double number) {
  char text[64];
  std::snprintf(text, sizeof text, format, number);
  return text;
}

namespace {

// The followers that failed in the same way.
struct Untold {
  std::string names, first;
  int because_of = -1;
};
Untold untold_by(const std::vector<Told>& all, std::optional<ErrorKind> kind) {
  Untold untold;
  for (const Told& each : all) {
    if (each.error.empty() || (kind && each.kind != *kind)) continue;
    if (untold.names.empty()) untold.first = each.error;
    if (untold.because_of < 0) untold.because_of = each.because_of;
    untold.names += (untold.names.empty() ? "" : ", ") + each.name;
  }
  return untold;
}

}  // namespace

// A lost follower explains why others are late, so it is reported first. torch reports a timeout for all followers
// without the map: the text adds that after the actual reason, except for followers that have died.
void throw_untold(const std::vector<Told>& all, base::Nanoseconds limit, base::Location site) {
  const std::string timed_out =
      " timed out in _all_gather after " + number_text("%.2f", in_seconds(limit)) + " seconds";
  const std::string torch = " (torch says that they" + timed_out + ")";
  if (const Untold lost = untold_by(all, ErrorKind::Disconnected); !lost.names.empty()) {
    const bool has_died = lost.first.find(" is gone: ") != std::string::npos;
    throw Error(ErrorKind::Disconnected,
                "Followers [" + lost.names + "] are lost in _all_gather: " + lost.first + (has_died ? "" : torch), site)
        .with_cause(lost.because_of);
  }
  const Untold untold = untold_by(all, std::nullopt);
  if (!untold_by(all, ErrorKind::Timeout).names.empty()) {
    throw Error(ErrorKind::Timeout,
                "Followers [" + untold.names + "]" + timed_out + ". The first exception is " + untold.first, site)
        .with_cause(untold.because_of);
  }
  throw Error(ErrorKind::Failed,
              "Followers [" + untold.names + "] have not taken what _all_gather has gathered: " + untold.first + torch,
              site)
      .with_cause(untold.because_of);
}

}  // namespace distrun::rpc
