#include <distrun/runtime/rpc/calls/destination.hpp>

#include <utility>

#include <distrun/common/base/deadline.hpp>
#include <distrun/common/base/error.hpp>

namespace distrun::rpc {
namespace {

constexpr double kSecondsMax = 1e9;

}  // namespace

Destination::Destination(double rank, Location site) : whom_(0), site_(site) {
  throw Error(ErrorKind::InvalidArgument, "ValueError",
              "cannot get a worker from " + std::to_string(rank) + ": name it, or give its rank as an integer", site);
}

Destination Destination::within(double seconds) const {
  if (!(seconds >= 0) || seconds > kSecondsMax) {
    throw Error(ErrorKind::InvalidArgument, "ValueError",
                "RPC Timeout must be non-negative, and no more than 1e9 seconds, but got " + std::to_string(seconds),
                site_);
  }
  Destination bounded = *this;
  bounded.timeout_ = base::nanoseconds_of(seconds);
  if (seconds > 0 && bounded.timeout_->count() == 0) bounded.timeout_ = base::Nanoseconds(1);  // 0 would mean no limit
  return bounded;
}

Destination Destination::with_worker(WorkerInfo worker) const {
  Destination same = *this;
  same.whom_ = std::move(worker);
  return same;
}

Destination Destination::within(base::Nanoseconds limit) const {
  return within(std::chrono::duration<double>(limit).count());
}

}  // namespace distrun::rpc
