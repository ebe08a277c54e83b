// A session's references after messages that come early, twice and from lost workers.
#include "reference_ranks.hpp"

namespace distrun::rref {
namespace {

using Number = RRef<std::int64_t>;
std::int64_t loss_seven(std::int64_t) { return 7; }
DISTRUN_RPC(loss_seven)
std::int64_t loss_eight(std::int64_t) { return 8; }
DISTRUN_RPC(loss_eight)
Number& kept() {
  static auto* const kept = new Number;
  return *kept;
}
void loss_keep(const Number& ref) { kept() = ref; }
DISTRUN_RPC(loss_keep)

const WorkerInfo kOther("worker1", 1);
constexpr std::int64_t kFar = 1'000'000;  // unused ids

wire::Bytes bytes_of(const ForkMessage& message) { return wire::encode(message); }
std::string error_of(const Number& ref) {
  return rpc::text_of_error([&] { ref.to_here(5.0); });
}

}  // namespace

TEST_CASE("a lost worker holds no references, and references to its values are lost, with its name") {
  const ReferenceRanks ranks(2);
  ranks.as(0, [&] {
    const Number here(std::int64_t{7}), there = remote("worker1", loss_seven, 0);
    there.creation().wait();
    rpc::rpc_sync("worker1", loss_keep, here);
    CHECK(debug_info()["num_owner_rrefs"] == "1");
    current_references()->lose(kOther, Error(ErrorKind::Disconnected, "it was killed"));
    CHECK(debug_info()["num_owner_rrefs"] == "0");
    CHECK(has(error_of(there), "can no longer be used: worker1 is gone: it was killed"));
    CHECK(has(rpc::text_of_error([&] { rpc::rpc_sync("worker1", loss_keep, there); }), "worker1 is gone"));
    // A thread that has checked the reference before the loss, and then shares it, gets the same error.
    CHECK(has(rpc::text_of_error([&] { current_references()->share(*there.reference(), 1); }), "worker1 is gone"));
    CHECK(here.to_here() == 7);
  });
  kept() = {};
  CHECK(ranks.left_over(0) == "");
}

TEST_CASE("a reference that is read after the loss of its sender is lost, and is not waited for") {
  const ReferenceRanks ranks(3);
  ranks.as(1, [] { rpc::shutdown({.graceful = false}); });
  const auto is_lost = [&](const Fork& fork) {
    return ranks.comes_true(0, [&] {
      const auto ref = Number::of(current_references()->receive(kOther, wire::encode(fork)));
      return has(error_of(ref), "worker1") && error_of(ref) != "";
    });
  };
  CHECK(is_lost({{1, kFar}, {1, kFar + 1}, 1, 1}));
  CHECK(is_lost({{1, kFar + 2}, {1, kFar + 3}, 2, 1}));  // from an intermediate sender
  CHECK(ranks.left_over(0) == "");
  CHECK(ranks.left_over(2) == "");
}

TEST_CASE("references created by a worker are not taken for those of the next one with its id") {
  const rpc::Ranks ranks(3);
  const auto as = [&](int rank, const std::function<void()>& body) { REQUIRE(ranks.error_as(rank, body) == ""); };
  for (int rank = 0; rank < 3; ++rank) as(rank, [&] { rpc::init_rpc(ranks.elastic(rank)); });
  as(1, [] {
    rpc::rpc_sync("worker2", loss_keep, remote("worker0", loss_seven, 0));
    rpc::shutdown({.graceful = false});
  });
  as(1, [&] { rpc::init_rpc(ranks.elastic(1)); });
  as(1, [] { CHECK(remote("worker0", loss_eight, 0).to_here(5.0) == 8); });
  as(2, [] {
    CHECK(kept().to_here(5.0) == 7);
    kept() = {};
  });
}

TEST_CASE("a reference to a value of an unknown worker is lost") {
  const ReferenceRanks ranks(2);
  ranks.as(0, [] {
    const Fork fork{{1, kFar}, {1, kFar + 1}, 7, 1};
    const auto ref = Number::of(current_references()->receive(kOther, wire::encode(fork)));
    CHECK(has(error_of(ref), "worker7"));
  });
  CHECK(ranks.left_over(0) == "");
}

TEST_CASE("a reference that arrives again is the same, and confirmed if it was") {
  const ReferenceRanks ranks(2);
  ranks.as(0, [] {
    const auto references = current_references();
    const wire::Bytes fork = wire::encode(Fork{{1, kFar}, {1, kFar + 1}, 1, 1});
    auto first = references->receive(kOther, fork);
    CHECK(references->receive(kOther, fork) == first);
    const wire::Bytes child = references->share(*first, 1);  // keeps it
    first.reset();
    CHECK(Number::of(references->receive(kOther, fork)).confirmed_by_owner());
    references->withdraw(child, 1);
  });
  CHECK(ranks.left_over(0) == "");
}

TEST_CASE("a value with a reference deleted before its creation is destroyed at once") {
  const ReferenceRanks ranks(2);
  ranks.as(0, [] {
    const auto references = current_references();
    const RRefId r{1, kFar};
    const ForkId f{1, kFar + 1};
    references->receive_message(kOther, bytes_of({ForkMessageKind::UserDelete, 1'000, r, f, ""}));
    wire::Encoder section;
    section(r), section(f), section(std::string("a test"));
    const auto sink = references->begin_result(kOther, section.take());
    sink->set(Value(std::int64_t{7}));
    CHECK(has(rpc::text_of_error([&] { references->find_value(r); }), "its last holder is gone"));
  });
  CHECK(ranks.left_over(0) == "");
}

TEST_CASE("invalid messages are refused, and do no harm") {
  const ReferenceRanks ranks(2);
  ranks.as(0, [] {
    const auto references = current_references();
    const auto refuses = [](const std::function<void()>& body) { return !rpc::text_of_error(body).empty(); };
    CHECK(refuses([&] { references->receive(kOther, wire::Bytes(3)); }));
    CHECK(refuses([&] { references->receive(kOther, wire::encode(Fork{{1, 1}, {1, 2}, 1, 0})); }));
    CHECK(refuses([&] { references->receive(kOther, wire::encode(Fork{{1, -1}, {1, 2}, 1, 1})); }));
    CHECK(refuses([&] { references->receive_message(kOther, wire::Bytes(3)); }));
    CHECK(refuses([&] { references->receive_message(kOther, bytes_of({ForkMessageKind{9}, 1, {}, {}, ""})); }));
    CHECK(refuses([&] { references->begin_result(kOther, wire::Bytes(3)); }));
  });
  CHECK(ranks.left_over() == "");
}

}  // namespace distrun::rref
