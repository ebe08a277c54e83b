#include <distrun/runtime/rref/owned_value.hpp>

#include <utility>

namespace distrun::rref {
namespace {

using rpc::Value;

future::FutureInfo value_info() {
  future::FutureInfo info{base::Location()};
  info.name = "the value of a reference";
  info.any_device = true;
  return info;
}

}  // namespace

OwnedValue::OwnedValue(RRefId id_, std::string site_)
    : id(id_),
      site(std::move(site_)),
      since(base::system_clock().now()),
      future(future::Future<Value>::of(value_info())) {}

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
  if (state.try_begin()) state.end(std::make_exception_ptr(error));
  state.mark_seen();  // by whoever asks for the value
}

Error lost(RRefId r, const std::string& why) {
  return Error(ErrorKind::Disconnected, "RuntimeError", "the value of RRefId = " + to_string(r) + " is lost: " + why);
}

}  // namespace distrun::rref
