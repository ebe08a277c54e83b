#include <distrun/runtime/rpc/calls/traced_call.hpp>

#include <distrun/common/board/layout.hpp>

namespace distrun::rpc {
namespace {

trace::SliceInfo call_slice(trace::Kind kind, const char* name, std::uint64_t id, std::uint64_t peer) noexcept {
  trace::SliceInfo info;
  info.kind = kind;
  info.name = name;
  info.id = id;
  info.rule = trace::Peers::One;
  info.peers = peer;
  return info;
}

trace::SliceInfo slice_of(const PendingCall& call, base::Location site) noexcept {
  trace::SliceInfo info = call_slice(trace::Kind::Call, call.name, call.id, static_cast<std::uint64_t>(call.peer.id));
  info.place = site.file;
  info.line = site.line;
  return info;
}

}  // namespace

TracedCall::TracedCall(const PendingCall& call, base::Location site, std::int64_t began) noexcept
    : slice_(
          began != 0 ? core::tracer() : nullptr, [&] { return slice_of(call, site); }, began) {}

TracedReply::TracedReply(const PendingCall& call) noexcept
    : slice_(core::tracer(), [&] {
        return call_slice(trace::Kind::Reply, call.name, call.id, static_cast<std::uint64_t>(call.peer.id));
      }) {}

void trace_quick_call(const CallContext& call, const char* name, std::int64_t began) noexcept {
  trace::Writer* const writer = began != 0 ? core::tracer() : nullptr;
  if (writer == nullptr) return;
  trace::SliceInfo info = call_slice(trace::Kind::Handler, name, call.id, static_cast<std::uint64_t>(call.caller.id()));
  info.detail = static_cast<std::uint8_t>(board::WaitKind::Handler);
  writer->add(info, began, trace::now_ns());
}

}  // namespace distrun::rpc
