// Workers that are lost, and others that take their ids.
#include <catch2/catch.hpp>

#include "unit/rref/protocol_workers.hpp"

namespace distrun::rref::testing {
namespace {

using Catch::Matchers::Contains;
using Kind = ForkMessageKind;

TEST_CASE("forks of a lost owner fail, pending or not, with the reason of the loss") {
  Workers workers(4);
  const auto [r, f] = workers.create(0, 1);
  workers.create(0, 1, false);
  const Fork child = workers[0].share_held(f, 2);
  workers[2].arrive(child);
  workers.look(2);
  workers.forget_under_way();
  workers[0].lose(1, "worker1 is gone");
  workers[2].lose(1, "worker1 is gone");
  CHECK(workers.look(0).failed.size() == 2);
  const Effects effects = workers.look(2);
  REQUIRE(effects.failed.size() == 1);
  CHECK(effects.failed[0].why == "worker1 is gone");
  workers.settle();
  CHECK(workers[0].counts().is_settled());
  CHECK(workers[0].counts().users == 0);
  CHECK(workers[2].counts().users == 0);
  // A fork that arrives later fails at once.
  workers[3].lose(1, "worker1 is gone");
  workers[3].arrive({r, {0, 99}, 1, 0});
  CHECK(workers.look(3).failed.size() == 1);
  CHECK(workers[3].counts().users == 0);
}

TEST_CASE("a fork and its child on the same worker fail with their owner, in any order") {
  Workers workers(3);
  const Fork fork = workers[2].share_owned(workers[2].next_rref(), 1);
  workers[1].arrive(fork);
  workers[1].arrive(workers[1].share_held(fork.fork, 1));
  workers[1].drop(fork.fork);
  workers[1].lose(2, "gone");
  CHECK(workers[1].counts().users == 0);
  CHECK(workers[1].children().empty());
}

TEST_CASE("references of a lost worker are released, and children in flight to it end") {
  Workers workers(3);
  const auto [r, f] = workers.create(0, 1);
  const Fork child = workers[0].share_held(f, 2);
  workers[0].drop(f);
  workers[0].lose(2, "gone");
  CHECK(workers.settle()[1].released == std::vector<RRefId>{r});
  workers[0].withdraw(child);  // as when the child could not be sent
  const RRefId own = workers[1].next_rref();
  workers[1].share_owned(own, 2);
  workers[1].lose(2, "gone");
  CHECK(workers.look(1).released == std::vector<RRefId>{own});
  CHECK(workers.are_empty());
}

TEST_CASE("a fork with a lost parent is confirmed while its value exists, and fails when it does not") {
  Workers workers(4);
  const auto [r, f] = workers.create(0, 1);
  const Fork child = workers[0].share_held(f, 2);
  const Fork late = workers[0].share_held(f, 3);
  workers[2].arrive(child);
  const ForkMessage request = workers[2].take_effects().sends.at(0).second;
  workers[2].lose(0, "gone");
  workers[1].receive(2, request);
  workers.look(1);
  workers.pass_on();
  CHECK(workers[2].counts().is_settled());  // no ChildAccept is pending
  workers[1].lose(0, "gone");
  CHECK(workers[1].holders_of(r) == std::map<ForkId, WorkerId>{{child.fork, 2}});
  workers[2].drop(child.fork);
  CHECK(workers.settle()[1].released == std::vector<RRefId>{r});
  workers[3].arrive(late);
  const auto effects = workers.settle();
  REQUIRE(effects.at(3).failed.size() == 1);
  CHECK_THAT(effects.at(3).failed[0].why, Contains("holder") && Contains("gone"));
  CHECK(workers[3].counts().users == 0);
}

TEST_CASE("workers that wait for a value that will not be created are notified") {
  Workers workers(4);
  const auto [r, f] = workers.create(0, 1, false);
  const Fork child = workers[0].share_held(f, 2);
  const Fork late = workers[0].share_held(f, 3);
  workers[2].arrive(child);
  workers.settle();
  workers[1].lose(0, "worker0 is gone");
  const Effects effects = workers.look(1);
  REQUIRE(effects.uncreated.size() == 1);
  CHECK(effects.uncreated[0].rref == r);
  workers[2].drop(child.fork);
  CHECK(workers.settle()[1].released == std::vector<RRefId>{r});
  workers[3].arrive(late);
  CHECK(workers.settle().at(3).failed.size() == 1);
}

TEST_CASE("a value that is not created yet outlives other workers that wait for it") {
  Workers workers(3);
  const auto [r, f] = workers.create(0, 1, false);
  const Fork child = workers[0].share_held(f, 2);
  workers[2].arrive(child);
  workers.settle();
  workers[1].lose(2, "gone");
  CHECK(workers.look(1).released.empty());
  CHECK(workers[1].why_gone(r).empty());
  CHECK(workers[1].create(r, f, 0));
  CHECK(workers[1].is_noted(r, f));
}

TEST_CASE("children of a lost intermediate worker that the owner does not know are lost with it") {
  Workers workers(4);
  const auto [r, f] = workers.create(0, 1);
  const Fork second = workers[0].share_held(f, 2);
  workers[2].arrive(second);
  const Fork third = workers[2].share_held(second.fork, 3);
  workers.settle();
  workers[0].drop(f);
  workers.settle();
  workers[1].lose(2, "gone");
  CHECK(workers.look(1).released == std::vector<RRefId>{r});
  workers[3].arrive(third);
  CHECK(workers.settle().at(3).failed.size() == 1);
  workers[3].lose(2, "gone");
  workers[0].lose(2, "gone");
  CHECK(workers[3].counts().unacknowledged == 0);
  CHECK(workers[0].counts().is_settled());
}

TEST_CASE("a lost worker stays lost if it is only called") {
  Workers workers(3);
  workers[0].lose(1, "gone");
  workers[0].forget_creation(workers.create(0, 1, false).second);
  workers[0].arrive({{2, 0}, {2, 1}, 1, 2});
  CHECK(workers.look(0).failed.size() == 1);
  CHECK(workers[0].counts().unacknowledged == 1);  // it has notified the parent
}

TEST_CASE("a new worker with a lost worker's id starts without references") {
  Workers workers(2);
  const auto [r, f] = workers.create(0, 1, false);
  workers[0].give_up_creation(f);
  workers[0].drop(f);
  workers.settle();
  workers[1].lose(0, "gone");
  CHECK(workers[1].counts().early == 0);
  CHECK_THAT(workers[1].why_gone(r), Contains("gone"));
  workers.restart(0);
  const auto [again, f2] = workers.create(0, 1);
  CHECK(again == r);  // its count restarts, too
  CHECK(workers[1].why_gone(r).empty());
  workers[0].drop(f2);
  CHECK(workers.settle()[1].released == std::vector<RRefId>{r});
  CHECK(workers.are_empty());
}

}  // namespace
}  // namespace distrun::rref::testing
