#pragma once
// The destination of a call, with its timeout and the line of user code that makes it.
//
//   rpc_sync("worker1", add_twice, 1, 2);
//   rpc_sync(to("worker1").within(0.5), add_twice, 1, 2);   // seconds; 0: no limit
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include <distrun/common/base/clock.hpp>
#include <distrun/common/base/location.hpp>
#include <distrun/runtime/rpc/worker_info.hpp>

namespace distrun::rpc {

// The worker to call, by its name, its rank or its WorkerInfo. A value type; converts from each of them, so that calls
// take these directly. The worker is looked up when the call is made.
class Destination {
 public:
  using Location = base::Location;  // the caller's line, for errors and waits

  // By name, such as "worker1".
  Destination(const char* name, Location site = Location::here()) : whom_(std::string(name)), site_(site) {}
  Destination(std::string name, Location site = Location::here()) : whom_(std::move(name)), site_(site) {}
  Destination(std::string_view name, Location site = Location::here()) : whom_(std::string(name)), site_(site) {}
  // As get_worker_info() returns it.
  Destination(WorkerInfo worker, Location site = Location::here()) : whom_(std::move(worker)), site_(site) {}
  // By rank.
  Destination(int rank, Location site = Location::here()) : whom_(rank), site_(site) {}
  // Throws Error{InvalidArgument, "ValueError"}: ranks are integers.
  Destination(double rank, Location site = Location::here());

  // Returns a copy with a limit for calls, in seconds; 0: no limit. Throws Error{InvalidArgument, "ValueError"} for
  // negative values.
  Destination within(double seconds) const;
  Destination within(base::Nanoseconds limit) const;

  // Returns a copy with the worker that the destination resolves to now.
  Destination with_worker(WorkerInfo worker) const;

  const std::variant<std::string, WorkerInfo, int>& whom() const noexcept { return whom_; }  // as given
  // Returns the limit of a call; nullopt: the session's default; 0: no limit.
  const std::optional<base::Nanoseconds>& timeout() const noexcept { return timeout_; }
  base::Location site() const noexcept { return site_; }  // where it was written

 private:
  std::variant<std::string, WorkerInfo, int> whom_;
  std::optional<base::Nanoseconds> timeout_;
  base::Location site_;
};

// Returns a destination, for within(): to("worker1").within(0.5).
inline Destination to(Destination whom) { return whom; }

}  // namespace distrun::rpc
