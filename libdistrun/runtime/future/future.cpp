#include <distrun/runtime/future/future.hpp>

#include <distrun/common/base/deadline.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/runtime/core/wait.hpp>

namespace distrun::future {

void AnyFuture::wait_done(std::optional<base::Nanoseconds> timeout, base::Location site) const {
  if (!done()) state_->wait(timeout ? base::deadline_after(*timeout) : core::kForever, site, timeout);
  state_->throw_if_failed();
}

void require_done(const AnyFuture& future) {
  if (future.done()) return;
  throw Error(ErrorKind::InvalidArgument, "the future is not complete; value() does not wait, use wait()");
}

FutureInfo info_of_child(const FutureState& parent, base::Location site) {
  FutureInfo info(site);
  info.name = parent.info().name;
  info.id = parent.info().id;
  info.peers = parent.info().peers;
  info.devices = parent.info().devices;
  info.any_device = parent.info().any_device;
  info.progress = parent.info().progress;
  info.follows_runtime = !parent.info().is_by_hand();
  info.is_failure = parent.info().is_failure;
  return info;
}

void refuse_empty_callback(base::Location site) {
  throw Error(ErrorKind::InvalidArgument, "TypeError",
              "incompatible function arguments. The callback of a future is an empty function", site);
}

}  // namespace distrun::future
