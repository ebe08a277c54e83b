#include <agents/faulty/kinds.hpp>

#include <string_view>

#include <distrun/runtime/rpc/calls/autograd_service.hpp>
#include <distrun/runtime/rpc/calls/call_codec.hpp>

namespace distrun::agents::faulty {
namespace {

using wire::FaultKind;

constexpr std::string_view kFetch = "_rref_fetch";
constexpr std::string_view kAutograd = "distrun.autograd.", kRelease = "distrun.autograd.release";

FaultKind kind_of_call(const rpc::Message& call) noexcept {
  if (rpc::find_section(call, rpc::SectionTag::Owned) != nullptr) return FaultKind::Remote;
  const std::string_view callee = rpc::callee_name(call);
  if (callee == kFetch) return FaultKind::Fetch;
  if (callee == kRelease) return FaultKind::Cleanup;
  if (callee.starts_with(kAutograd)) return FaultKind::Backward;
  return rpc::context_of(call) == rpc::kNoContext ? FaultKind::Call : FaultKind::Forward;
}

// Decides by the first byte.
std::optional<FaultKind> kind_of_reference(const rpc::Message& message) noexcept {
  constexpr FaultKind kinds[] = {FaultKind::ForkRequest, FaultKind::ChildAccept, FaultKind::UserDelete, FaultKind::Ack};
  const auto number = message.payload.empty() ? std::size_t{0} : static_cast<std::size_t>(message.payload.front());
  if (number < 1 || number > std::size(kinds)) return std::nullopt;
  return kinds[number - 1];
}

}  // namespace

std::optional<FaultKind> kind_of(const rpc::Message& message) noexcept {
  switch (message.kind) {
    case rpc::MessageKind::Call: return kind_of_call(message);
    case rpc::MessageKind::Reply: return FaultKind::Reply;
    case rpc::MessageKind::Failure: return FaultKind::Failure;
    case rpc::MessageKind::Cancel: return FaultKind::Cancel;
    case rpc::MessageKind::Control:
    case rpc::MessageKind::Devices: return FaultKind::Control;
    case rpc::MessageKind::Reference: return kind_of_reference(message);
  }
  return std::nullopt;
}

}  // namespace distrun::agents::faulty
