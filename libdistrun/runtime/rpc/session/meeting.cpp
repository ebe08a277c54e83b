#include <distrun/runtime/rpc/session/meeting.hpp>

#include <new>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/core/inline_function.hpp>
#include <distrun/runtime/rpc/functions/register.hpp>
#include <distrun/runtime/rpc/session/detail/session_state.hpp>

namespace distrun::rpc {
namespace {

void gather(const std::string& key, std::uint64_t number, const std::string& name, const Value& object) {
  session_state().get()->meetings.contribute(key, number, name, object);
}

// The answer confirms it, too, unless this worker leaves before: so this may fail.
void confirm(const std::string& key, std::uint64_t number) {
  try {
    Control heard;
    heard.kind = ControlKind::Heard;
    heard.text = key;
    heard.round = number;
    const std::string leader = key.substr(0, key.find_first_of(",#"));
    const std::shared_ptr<Calls> calls = current_calls();
    calls->send(calls->workers().resolve(Destination(leader)).id(), MessageKind::Control, wire::encode(heard),
                Urgency::Later);
  } catch (const std::bad_alloc&) {
    return;
  }
}

void gathered(const std::string& key, std::uint64_t number, const std::string& failure, const std::string& bytes,
              const std::vector<Tensor>& tensors, int because_of) {
  Packed packed;
  packed.bytes.assign(reinterpret_cast<const std::byte*>(bytes.data()),
                      reinterpret_cast<const std::byte*>(bytes.data()) + bytes.size());
  packed.tensors = tensors;
  const std::shared_ptr<Session> session = session_state().get();
  session->meetings.finish(key, number, {failure, because_of}, packed, [&] {
    const SessionHooks hooks = session_state().hooks();
    if (hooks.after_broadcast) hooks.after_broadcast();
    confirm(key, number);
  });
}

[[maybe_unused]] const bool are_meetings_registered =
    register_function("distrun.gather", {"key", "number", "name", "object"}, &gather) &&
    register_function("distrun.gathered", {"key", "number", "failure", "bytes", "tensors", "because_of"}, &gathered);

Gathered meet(const Value& object, const std::optional<std::set<std::string>>& wanted, const MeetingBounds& bounds,
              base::Location site) {
  core::refuse_in_inline_function("meets other workers", site);
  const std::shared_ptr<Session> session = session_state().get();
  const std::shared_ptr<Calls> calls = current_calls();
  std::set<std::string> names = wanted.value_or(std::set<std::string>());
  if (!wanted) {
    for (const WorkerInfo& each : session->agent->worker_infos()) names.insert(each.name());
  }
  for (const std::string& name : names)
    calls->workers().resolve(Destination(name, site));  // throws for an unknown name
  if (!names.contains(calls->self().name())) {
    throw Error(
        ErrorKind::InvalidArgument, "ValueError",
        "the names of a meeting must include the calling worker: " + calls->self().name() + " is not among them", site);
  }
  return session->meetings.meet(*calls, object, names, bounds, site);
}

// If the caller gives no timeout, the meeting's calls have none either, in place of the session's default.
MeetingBounds unbounded_if_none(MeetingBounds bounds) {
  if (!bounds.call) bounds.call = base::Nanoseconds();
  return bounds;
}

}  // namespace

std::map<std::string, Value> all_gather(const Value& object, std::optional<std::set<std::string>> names,
                                        std::optional<double> timeout, base::Location site) {
  return meet(object, names, bounds_of(timeout.value_or(0)), site);
}

void barrier(const std::set<std::string>& names, base::Location site) {
  meet(Value(), names, unbounded_if_none({}), site);
}

void wait_all_workers(double timeout, base::Location site) {
  meet(Value(), {}, unbounded_if_none(bounds_of(timeout)), site);
}

}  // namespace distrun::rpc
