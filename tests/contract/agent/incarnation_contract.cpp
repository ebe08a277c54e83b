// Successive workers with one id: a message for one of them never reaches another.
#include <catch2/catch.hpp>

#include <map>

#include <distrun/common/base/clock.hpp>
#include <distrun/common/base/rng.hpp>
#include <distrun/runtime/core/rank_state.hpp>

#include "agent_contract.hpp"
#include "support/error_of.hpp"

namespace distrun::rpc::testing {
namespace {

using distrun::testing::error_of;

constexpr Incarnation kSuccessors = 100;
constexpr WorkerId kIdle = 4000;

AgentSetting setting_of(WorkerId id, Incarnation incarnation) {
  AgentSetting setting = testing::setting_of(id, 0);
  setting.worker = WorkerInfo(setting.worker.name(), WorkerKey(id, incarnation));
  return setting;
}

// A process has one agent at a time. Rank states live until the process ends.
core::RankState& rank_of(Incarnation incarnation) {
  static auto* const all = new std::map<Incarnation, core::RankState>;
  return (*all)[incarnation];
}

// A permanent worker, and workers with the id 1, which the permanent one knows only if a case says so.
class Group {
 public:
  Group() : owner_(setting_of(0, 1)) { owner_.agent().start(owner_.inbox()); }

  Worker& owner() noexcept { return owner_; }
  Inbox& inbox() noexcept { return owner_.inbox(); }
  std::unique_ptr<Worker> join(Incarnation incarnation) { return join(incarnation, rank_of(incarnation)); }
  std::unique_ptr<Worker> join(Incarnation incarnation, core::RankState& rank) {
    auto worker = std::make_unique<Worker>(setting_of(1, incarnation), rank);
    worker->agent().start(worker->inbox());
    worker->agent().add_worker(owner_.record());
    return worker;
  }
  void send(WorkerKey to) { owner_.agent().send(to, message_of(7, 10), Urgency::Later); }
  void exchange(Worker& worker) {
    const std::size_t before = inbox().count(), there = worker.inbox().count();
    worker.send(0, message_of(1, 10));
    REQUIRE(inbox().wait_messages(before + 1));
    send(worker.agent().worker_info().key());
    REQUIRE(worker.inbox().wait_messages(there + 1));
  }
  ErrorKind refusal(WorkerKey to) {
    return error_of([&] { send(to); }).kind();
  }

 private:
  Worker owner_;
};

}  // namespace

TEST_CASE("a message to a worker that has left does not reach its successor") {
  Group group;
  {
    const auto first = group.join(1);
    group.exchange(*first);
    first->close();
  }
  REQUIRE(group.inbox().wait_losses(1));
  const auto second = group.join(2);
  group.owner().agent().add_worker(second->record());
  CHECK(group.refusal({1, 1}) == ErrorKind::Disconnected);
  group.exchange(*second);
  CHECK(second->inbox().count() == 1);
  group.send(1);  // the current worker with that id
  CHECK(second->inbox().wait_messages(2));
  CHECK(group.owner().agent().worker_infos().at(1).incarnation() == 2);
}

TEST_CASE("a worker that joins in the place of a connected one ends that connection, and is accepted") {
  Group group;
  const auto first = group.join(1);
  group.exchange(*first);
  const auto second = group.join(2);
  group.exchange(*second);
  REQUIRE(group.inbox().wait_losses(1));
  CHECK(group.inbox().losses().at(0) == "worker1: worker1 has left: another worker has joined in its place");
  group.owner().agent().remove_worker(WorkerKey(1, 1));
  group.exchange(*second);
  CHECK(group.refusal({1, 1}) == ErrorKind::Disconnected);
}

TEST_CASE("a worker that has left is not accepted after another has joined in its place") {
  Group group;
  const auto first = group.join(1);
  const auto second = group.join(2);
  group.exchange(*second);
  CHECK_FALSE(why_gone(*first, 0).empty());
  const Error error = error_of([&] { group.owner().agent().add_worker(first->record()); });
  CHECK_THAT(error.what(),
             Catch::Contains("WorkerInfo(id=1, name=worker1) has left: another worker has its id by now"));
  group.exchange(*second);
  CHECK(group.inbox().losses().empty());
}

TEST_CASE("a worker that is no longer the one at its address gets no messages") {
  Group group;
  const auto first = group.join(1);
  WorkerRecord record = group.owner().record();
  record.worker = WorkerInfo("worker0", WorkerKey(0, 2));  // as if a later worker had its address
  const auto other = std::make_unique<Worker>(setting_of(2, 1));
  other->agent().start(other->inbox());
  try {
    other->agent().add_worker(record);
    CHECK_FALSE(why_gone(*other, 0).empty());
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::InvalidArgument);
  }
  CHECK(group.inbox().count() == 0);
}

// The owner's thread drops the predecessor at some moment while the successor connects. With many workers an agent
// takes longer to change one of them, so the two meet in every step of that.
TEST_CASE("a worker is heard, and its end is noticed, if its predecessor is dropped while it connects") {
  Group group;
  Agent& owner = group.owner().agent();
  for (WorkerId id = 1; id <= kIdle; ++id) {
    owner.add_worker({WorkerInfo("worker" + std::to_string(id), WorkerKey(id, 1)), owner.address()});
  }
  base::Rng random(20'261);
  for (Incarnation incarnation = 2; incarnation < 2 + kSuccessors; ++incarnation) {
    CAPTURE(incarnation);
    const std::size_t messages = group.inbox().count();
    const auto successor = group.join(incarnation, rank_of(incarnation % 2 + 1));
    successor->send(0, message_of(1, 10));
    const base::TimePoint until = base::system_clock().now() + std::chrono::microseconds(random.below(1500));
    while (base::system_clock().now() < until) continue;
    if (incarnation % 4 < 2) {
      owner.remove_worker(WorkerKey(1, incarnation - 1));
    } else {
      owner.add_worker(successor->record());
    }
    REQUIRE(group.inbox().wait_messages(messages + 1));
    const std::size_t losses = group.inbox().losses().size();
    successor->close();
    REQUIRE(group.inbox().wait_losses(losses + 1));
  }
}

TEST_CASE("a worker is gone once its agent is closed, and not before") {
  Group group;
  const auto first = group.join(1);
  const WorkerRecord record = first->record();
  CHECK_FALSE(group.owner().agent().is_gone(record));
  group.exchange(*first);
  CHECK_FALSE(group.owner().agent().is_gone(record));
  first->close();
  CHECK(group.owner().agent().is_gone(record));
}

}  // namespace distrun::rpc::testing
