#include <catch2/catch.hpp>

#include <agents/faulty/kinds.hpp>
#include <distrun/runtime/rpc/calls/call_codec.hpp>

namespace distrun::agents::faulty {
namespace {

using rpc::MessageKind;
using wire::FaultKind;

rpc::Message call_of(const std::string& name) {
  rpc::Message message;
  rpc::CallHead head;
  head.name = name;
  rpc::write_call(message, head, {});
  return message;
}

rpc::Message message_of(MessageKind kind, std::vector<int> payload = {}) {
  rpc::Message message;
  message.kind = kind;
  for (const int each : payload) message.payload.push_back(static_cast<std::byte>(each));
  return message;
}

TEST_CASE("calls are classified by their purpose") {
  CHECK(kind_of(call_of("add")) == FaultKind::Call);
  CHECK(kind_of(call_of("_rref_fetch")) == FaultKind::Fetch);
  rpc::Message remote = call_of("add");
  remote.sections.push_back({rpc::SectionTag::Owned, {}});
  CHECK(kind_of(remote) == FaultKind::Remote);
  CHECK(kind_of(call_of("distrun.autograd.release")) == FaultKind::Cleanup);
  CHECK(kind_of(call_of("distrun.autograd.backward")) == FaultKind::Backward);
  rpc::Message in_context = call_of("add");
  in_context.sections.push_back({rpc::SectionTag::Autograd, wire::encode(std::int64_t{7})});
  CHECK(kind_of(in_context) == FaultKind::Forward);
  CHECK(kind_of(message_of(MessageKind::Call, {1})) == FaultKind::Call);
}

TEST_CASE("messages of references are classified by their first byte") {
  const FaultKind kinds[] = {FaultKind::ForkRequest, FaultKind::ChildAccept, FaultKind::UserDelete, FaultKind::Ack};
  for (int number = 1; number <= 4; ++number) {
    CHECK(kind_of(message_of(MessageKind::Reference, {number, 9})) == kinds[number - 1]);
  }
  CHECK_FALSE(kind_of(message_of(MessageKind::Reference)));
  CHECK_FALSE(kind_of(message_of(MessageKind::Reference, {0})));
  CHECK_FALSE(kind_of(message_of(MessageKind::Reference, {5})));
}

TEST_CASE("all other messages have their own kind") {
  CHECK(kind_of(message_of(MessageKind::Reply)) == FaultKind::Reply);
  CHECK(kind_of(message_of(MessageKind::Failure)) == FaultKind::Failure);
  CHECK(kind_of(message_of(MessageKind::Cancel)) == FaultKind::Cancel);
  CHECK(kind_of(message_of(MessageKind::Control)) == FaultKind::Control);
  CHECK_FALSE(kind_of(message_of(static_cast<MessageKind>(99))));
}

}  // namespace
}  // namespace distrun::agents::faulty
