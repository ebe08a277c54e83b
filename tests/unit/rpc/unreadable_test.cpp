// Messages with nothing but a readable envelope.
#include <catch2/catch.hpp>

#include "keeping_agent.hpp"
#include "support/error_of.hpp"

namespace distrun::rpc {
namespace {

Message unreadable(MessageKind kind, std::uint64_t id) {
  Message message;
  message.kind = kind;
  message.id = id;
  message.unreadable = "out of memory for its 7 bytes";
  return message;
}

}  // namespace

TEST_CASE("an unreadable call is answered with the reason") {
  KeptCalls kept;
  CHECK(kept.calls->receive(WorkerInfo("worker1", 1), unreadable(MessageKind::Call, 5)) == nullptr);
  const Error error = kept.agent->failure();
  CHECK(error.type() == "MemoryError");
  CHECK(error.text() == "the call could not be taken by worker0: out of memory for its 7 bytes");
  CHECK(kept.calls->counts().received == 1);
  CHECK(kept.calls->counts().running == 0);
}

TEST_CASE("a call with a caller that has given up is answered as one that arrived too late") {
  KeptCalls kept;
  Message late = unreadable(MessageKind::Call, 5);
  late.is_late = true;
  kept.calls->receive(WorkerInfo("worker1", 1), std::move(late));
  CHECK(kept.agent->failure().kind() == ErrorKind::Timeout);
}

TEST_CASE("an unreadable answer is the error of its call, and of no other") {
  KeptCalls kept;
  const auto lost = kept.calls->sender().call(KeptCalls::request("worker1", 60));
  const auto other = kept.calls->sender().call(KeptCalls::request("worker1", 60));
  const std::vector<std::uint64_t> sent = kept.agent->calls();
  kept.calls->receive(WorkerInfo("worker1", 1), unreadable(MessageKind::Reply, sent[0]));
  kept.answer(sent[1], 1, 7);
  const Error error = testing::error_of([&] { lost.wait(); });
  CHECK(error.type() == "MemoryError");
  CHECK(error.text() == "the answer of worker1 could not be taken: out of memory for its 7 bytes");
  CHECK(from_value<std::int64_t>(other.wait()) == 7);
}

}  // namespace distrun::rpc
