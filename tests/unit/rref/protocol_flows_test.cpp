// Forks that are created, shared and dropped without losses.
#include <catch2/catch.hpp>

#include "support/error_of.hpp"
#include "unit/rref/protocol_workers.hpp"

namespace distrun::rref::testing {
namespace {

using Kind = ForkMessageKind;
using Arrival = ForkProtocol::Arrival;

TEST_CASE("a creation is pending until it is answered, and its end deletes the value") {
  Workers workers(2);
  const auto [r, f] = workers.create(0, 1, false);
  CHECK(workers[0].counts().pending_users == 1);
  REQUIRE(workers[1].create(r, f, 0));
  CHECK(workers[1].holders_of(r) == std::map<ForkId, WorkerId>{{f, 0}});
  workers[0].confirm_creation(f);
  CHECK(workers.look(0).confirmed == std::vector<ForkId>{f});
  workers[0].drop(f);
  workers.look(0);
  const auto [sent, effects] = workers.pass_on();
  CHECK(sent.message.kind == Kind::UserDelete);
  CHECK(effects.released == std::vector<RRefId>{r});
  CHECK(workers[0].counts().unacknowledged == 1);
  workers.pass_on();
  CHECK(workers.are_empty());
}

TEST_CASE("a creation that is dropped before its answer ends with the answer") {
  Workers workers(2);
  const auto [r, f] = workers.create(0, 1, false);
  workers[0].drop(f);
  CHECK(workers.look(0).sends.empty());
  workers[1].create(r, f, 0);
  workers[0].confirm_creation(f);
  CHECK(workers.settle()[1].released == std::vector<RRefId>{r});
  CHECK(workers.are_empty());
}

TEST_CASE("a creation that was not sent leaves nothing, and a repeated one counts once") {
  Workers workers(2);
  const auto [r, f] = workers.create(0, 1, false);
  workers[0].forget_creation(f);
  workers.look(0);
  CHECK(workers.are_empty());
  const auto [r2, f2] = workers.create(0, 1);
  CHECK_FALSE(workers[1].create(r2, f2, 0));
}

TEST_CASE("a creation that was given up and dropped before its call arrives is deleted on arrival") {
  Workers workers(2);
  const auto [r, f] = workers.create(0, 1, false);
  workers[0].give_up_creation(f);
  workers[0].drop(f);
  workers.settle();
  CHECK(workers[1].counts().early == 1);
  CHECK(workers[1].create(r, f, 0));
  CHECK(workers.look(1).released == std::vector<RRefId>{r});
  workers[0].confirm_creation(f);
  CHECK(workers.are_empty());
}

TEST_CASE("a creation that was given up while it ran ends like others") {
  Workers workers(2);
  const auto [r, f] = workers.create(0, 1, false);
  workers[1].create(r, f, 0);
  workers[0].give_up_creation(f);
  workers[0].confirm_creation(f);
  CHECK(workers.look(0).confirmed.empty());
  workers[0].drop(f);
  CHECK(workers.settle()[1].released == std::vector<RRefId>{r});
  CHECK(workers.are_empty());
}

TEST_CASE("a reference shared by its owner is confirmed on arrival") {
  Workers workers(2);
  const RRefId r = workers[0].next_rref();
  const Fork fork = workers[0].share_owned(r, 1);
  CHECK(fork == Fork{r, fork.fork, 0, 0});
  CHECK(workers[1].arrive(fork) == Arrival::Held);
  CHECK(workers[1].counts().pending_users == 0);
  CHECK(workers.look(1).sends.empty());
  CHECK(workers[1].arrive(fork) == Arrival::Again);
  workers[1].drop(fork.fork);
  CHECK(workers.settle()[0].released == std::vector<RRefId>{r});
  CHECK(workers.are_empty());
}

TEST_CASE("a user shares with another: the owner is informed first, then the parent") {
  Workers workers(3);
  const auto [r, f] = workers.create(0, 1);
  const Fork child = workers[0].share_held(f, 2);
  workers[0].drop(f);
  CHECK(workers.look(0).sends.empty());
  CHECK(workers[0].children() == std::map<ForkId, WorkerId>{{child.fork, 2}});
  CHECK(workers[2].arrive(child) == Arrival::Held);
  workers.look(2);
  CHECK(workers.pass_on().first.message.kind == Kind::ForkRequest);
  CHECK(workers[1].is_noted(r, child.fork));
  CHECK(workers.pass_on().second.confirmed == std::vector<ForkId>{child.fork});
  REQUIRE(workers.under_way().front().message.kind == Kind::ChildAccept);
  CHECK(workers.settle()[1].released.empty());  // and the parent has ended
  CHECK_FALSE(workers[0].is_held(f));
  CHECK(workers[1].holders_of(r) == std::map<ForkId, WorkerId>{{child.fork, 2}});
  workers[2].drop(child.fork);
  CHECK(workers.settle()[1].released == std::vector<RRefId>{r});
  CHECK(workers.are_empty());
}

TEST_CASE("a fork that is dropped on arrival ends once its owner knows of it") {
  Workers workers(3);
  const auto [r, f] = workers.create(0, 1);
  const Fork child = workers[0].share_held(f, 2);
  workers[2].arrive(child);
  workers[2].drop(child.fork);
  CHECK(workers.look(2).sends.size() == 1);
  workers.settle();
  CHECK(workers[1].holders_of(r) == std::map<ForkId, WorkerId>{{f, 0}});
  CHECK(workers[0].children().empty());
}

TEST_CASE("a user shares with the owner, or with itself") {
  Workers workers(2);
  const auto [r, f] = workers.create(0, 1);
  const Fork to_owner = workers[0].share_held(f, 1);
  CHECK(workers[1].arrive(to_owner) == Arrival::Owned);
  const Fork to_self = workers[0].share_held(f, 0);
  CHECK(workers[0].arrive(to_self) == Arrival::Held);
  workers[0].drop(f);
  CHECK(workers[0].is_held(f));
  workers.settle();
  CHECK_FALSE(workers[0].is_held(f));
  CHECK(workers[1].holders_of(r) == std::map<ForkId, WorkerId>{{to_self.fork, 0}});
  const Fork own = workers[1].share_owned(r, 1);
  CHECK(workers[1].arrive(own) == Arrival::Owned);
  CHECK_FALSE(workers[1].is_noted(r, own.fork));
}

TEST_CASE("a value that has come back to its owner may be shared before it is created") {
  Workers workers(3);
  const auto [r, f] = workers.create(0, 1, false);
  CHECK(workers[1].arrive(workers[0].share_held(f, 1)) == Arrival::Owned);
  const Fork from_owner = workers[1].share_owned(r, 2);
  workers[2].arrive(from_owner);
  REQUIRE(workers[1].create(r, f, 0));
  workers[0].confirm_creation(f);
  workers[2].drop(from_owner.fork);
  CHECK(workers.settle()[1].released.empty());
  CHECK(workers[1].holders_of(r) == std::map<ForkId, WorkerId>{{f, 0}});
}

TEST_CASE("a fork that was not sent is taken back once") {
  Workers workers(3);
  const auto [r, f] = workers.create(0, 1);
  const Fork child = workers[0].share_held(f, 2);
  workers[0].withdraw(child);
  workers[0].withdraw(child);
  workers[0].drop(f);
  CHECK(workers.settle()[1].released == std::vector<RRefId>{r});
  const RRefId own = workers[1].next_rref();
  const Fork shared = workers[1].share_owned(own, 2);
  workers[1].withdraw(shared);
  workers[1].withdraw(shared);
  CHECK(workers.look(1).released == std::vector<RRefId>{own});
  CHECK(workers.are_empty());
}

TEST_CASE("a request may arrive before the call that creates the value") {
  Workers workers(3);
  const auto [r, f] = workers.create(0, 1, false);
  const Fork child = workers[0].share_held(f, 2);
  workers[2].arrive(child);
  workers.settle();
  CHECK(workers[1].is_noted(r, child.fork));
  CHECK(workers[1].why_gone(r).empty());
  workers[2].drop(child.fork);
  CHECK(workers.settle()[1].released.empty());
  CHECK(workers[1].create(r, f, 0));
  CHECK(workers[1].holders_of(r) == std::map<ForkId, WorkerId>{{f, 0}});
}

TEST_CASE("messages that arrive twice or late have their effect once, and are acknowledged each time") {
  Workers workers(3);
  const auto [r, f] = workers.create(0, 1);
  const Fork child = workers[0].share_held(f, 2);
  workers[2].arrive(child);
  const ForkMessage request = workers.look(2).sends.at(0).second;
  workers.settle();
  workers[2].drop(child.fork);
  const ForkMessage deleted = workers.look(2).sends.at(0).second;
  workers.settle();
  for (const ForkMessage& each : {request, deleted, request}) {
    workers[1].receive(2, each);
    const Effects effects = workers[1].take_effects();
    REQUIRE(effects.sends.size() == 1);
    CHECK(effects.sends[0].second ==
          ForkMessage{Kind::Ack, each.number, {}, each.kind == Kind::ForkRequest ? each.fork : ForkId(), {}});
    CHECK(effects.released.empty());
  }
  CHECK(workers[1].holders_of(r) == std::map<ForkId, WorkerId>{{f, 0}});
  workers[2].receive(1, {Kind::Ack, request.number, {}, {}, "the value is gone"});
  workers[2].receive(1, {Kind::Ack, 77, {}, {}, {}});
  workers[0].receive(1, {Kind::Ack, 1, {}, {}, {}});
  CHECK(workers[2].take_effects().failed.empty());
}

TEST_CASE("a reference that is not held cannot be shared, and an unknown one is ignored") {
  Workers workers(2);
  CHECK(distrun::testing::error_of([&] { workers[0].share_held({0, 7}, 1); }).kind() == ErrorKind::InvalidArgument);
  workers[0].drop({0, 7});
  workers[0].confirm_creation({0, 7});
  workers[0].give_up_creation({0, 7});
  workers[0].withdraw({{0, 6}, {0, 7}, 0, 0});
  workers[0].receive(1, {Kind::ChildAccept, 1, {0, 6}, {0, 7}, {}});
  workers[0].receive(1, {Kind::UserDelete, 2, {0, 6}, {1, 7}, {}});
  workers.settle();
  CHECK(workers.are_empty());
}

TEST_CASE("a session ends with all its references, even if a worker waits for them") {
  Workers workers(3);
  const auto [r, f] = workers.create(0, 1);
  const auto [r2, f2] = workers.create(0, 1, false);
  workers[0].share_held(f, 2);
  CHECK(workers[0].drop_all() == std::vector<ForkId>{f, f2});
  CHECK(workers.settle()[1].released == std::vector<RRefId>{r});
  CHECK(workers[0].is_held(f2));
  workers[1].create(r2, f2, 0);
  workers[0].confirm_creation(f2);
  CHECK(workers.settle()[1].released == std::vector<RRefId>{r2});
}

}  // namespace
}  // namespace distrun::rref::testing
