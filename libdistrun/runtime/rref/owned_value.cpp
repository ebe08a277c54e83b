#include <distrun/runtime/rref/owned_value.hpp>

#include <utility>

#include <distrun/common/base/if_memory.hpp>
#include <distrun/runtime/core/rank_state.hpp>
#include <distrun/runtime/rpc/calls/calls.hpp>

namespace distrun::rref {
namespace {

using rpc::Value;

future::FutureInfo value_info() {
  future::FutureInfo info{base::Location()};
  info.name = "the value of a reference";
  info.any_device = true;
  info.follows_runtime = true;
  return info;
}

}  // namespace

OwnedValue::OwnedValue(RRefId id_, std::string site_)
    : id(id_),
      site(std::move(site_)),
      since(base::system_clock().now()),
      future(future::Future<Value>::of(value_info())),
      rank(core::rank_state()) {}

OwnedValue::~OwnedValue() { streams.keep_until_done(future.state(), rank); }

void OwnedValue::end_work(const std::vector<device::Device>& devices) noexcept {
  try {
    streams.note(devices);
  } catch (const std::exception&) {
    return;  // no event is available; the next user of the value gets the error
  }
}

void begin_work(const std::shared_ptr<OwnedValue>& value) {
  value->streams.follow();
  const auto call = rpc::current_call();
  if (call == nullptr || !call->calls) return;
  const auto calls = call->calls->lock();
  if (calls != nullptr && calls->devices().has_devices()) call->works_on(value);
}

void Sink::set(const Value& value) noexcept {
  future::FutureState& state = *value_->future.state();
  if (!state.try_begin()) return;
  try {
    static_cast<future::TypedState<Value>&>(state).store(Value(value));
  } catch (...) {
    state.end(std::current_exception());
  }
}

void Sink::fail(const Error& error) noexcept {
  future::FutureState& state = *value_->future.state();
  if (state.try_begin()) state.end(base::error_if_memory([&] { return error; }));
  state.mark_seen();  // the error is shown by each use of the value
}

Error lost(RRefId r, const std::string& why, int because_of) {
  Error error(ErrorKind::Disconnected, "RuntimeError", "the value of RRefId = " + to_string(r) + " is lost: " + why);
  return error.with_cause(because_of);
}

Error unconfirmed(const std::string& why) {
  return Error(ErrorKind::Failed, "RuntimeError",
               "RRef creation via rpc.remote() timed out, and it is possible that the RRef on the owner node does not "
               "exist. It was: " +
                   why);
}

}  // namespace distrun::rref
