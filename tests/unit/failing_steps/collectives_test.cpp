// Process groups of two ranks that are threads, by the backend for threads and by the one for processes.
#include <catch2/catch.hpp>

#include <barrier>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <distrun/common/base/thread.hpp>
#include <distrun/runtime/collectives/groups.hpp>
#include <distrun/runtime/core/rank_state.hpp>
#include <distrun/runtime/core/thread_state.hpp>
#include <distrun/runtime/future/unseen_errors.hpp>
#include <distrun/runtime/store/hash_store.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>

#include "unit/failing_steps/attempt.hpp"

namespace distrun {
namespace {

using namespace testing;
using namespace std::chrono_literals;
using collectives::GroupOptions;
using collectives::WorldOptions;

constexpr int kRanks = 2;
const std::vector<int> kAll{0, 1};
constexpr base::Nanoseconds kShort = 300ms;  // of what a rank may wait for in vain, as the other one has failed before

// What one rank does: it comes together with the other one by `meet`.
using Body = std::function<void(int rank, const std::function<void()>& meet)>;

// Runs it on two ranks, each a thread with a state of its own. A fault of one is thrown once both have ended.
void on_ranks(const Body& body) {
  static auto* const states = new std::deque<core::RankState>(kRanks);
  std::barrier<> meeting(kRanks);
  std::mutex mutex;
  std::optional<Fault> fault;
  const auto run = [&](int rank) {
    core::thread_state().rank = &(*states)[static_cast<std::size_t>(rank)];
    try {
      body(rank, [&] { meeting.arrive_and_wait(); });
    } catch (const Fault& found) {
      const std::lock_guard lock(mutex);
      fault = found;
    } catch (const std::exception& thrown) {
      const std::lock_guard lock(mutex);
      fault = Fault{"rank " + std::to_string(rank) + " threw afterwards: " + thrown.what()};
    }
    meeting.arrive_and_drop();
    collectives::leave_groups(core::rank_state());
    future::unseen_errors_of(core::rank_state()).take();
    future::unseen_errors_of(core::rank_state()).take_failures();
  };
  {
    const base::Thread other("rank 1", [&] { run(1); });
    base::Thread("rank 0", [&] { run(0); }).join();
  }
  if (fault) throw *fault;
}

std::string backend;  // of the groups of this run of a case

void choose_backend() { backend = GENERATE(as<std::string>(), "threads", "shm"); }

GroupOptions options(base::Nanoseconds timeout = 10s) {
  GroupOptions made;
  made.backend = backend;
  made.timeout = timeout;
  return made;
}

std::shared_ptr<ProcessGroup> open_world(int rank, const std::shared_ptr<Store>& store) {
  WorldOptions made;
  made.store = store;
  made.rank = rank;
  made.world_size = kRanks;
  made.group = options();
  return collectives::init_process_group(made);
}

// Of all ranks: 1 + 2.
void require_sum(ProcessGroup& group) {
  const Tensor sum = tensor::full({4}, static_cast<double>(group.rank() + 1));
  group.all_reduce(sum).wait();
  require(sum.data_as<float>()[0] == 3, "a group adds up");
}

// A collective that fails ends the group for both ranks; another group works.
void try_collective(const std::function<void(ProcessGroup&, Attempt&)>& call) {
  choose_backend();
  every_step_may_fail([&](Attempt& attempt) {
    const auto store = std::make_shared<HashStore>();
    on_ranks([&](int rank, const auto& meet) {
      const auto world = open_world(rank, store);
      const auto group = collectives::new_group(kAll, *world);
      require_sum(*group);
      meet();
      if (!attempt.may_fail([&] { call(*group, attempt); })) group->abort();
      meet();
      attempt.may_fail([&] { group->leave(); });
      meet();
      require_sum(*collectives::new_group(kAll, *world));
      require_sum(*world);
    });
  });
}

TEST_CASE("a collective is done or ends its group") {
  try_collective([](ProcessGroup& group, Attempt&) {
    const Tensor sum = tensor::full({4}, 1.0);
    group.all_reduce(sum).wait();
  });
}

TEST_CASE("collectives without a wait complete or end their group") {
  try_collective([](ProcessGroup& group, Attempt&) {
    const Tensor sum = tensor::full({4}, 1.0), other = tensor::full({4}, 1.0);
    const auto first = group.all_reduce(sum, ReduceOp::Sum, {.async = true});
    const auto second = group.all_reduce(other, ReduceOp::Sum, {.async = true});
    first.wait();
    second.wait();
  });
}

TEST_CASE("an asynchronous collective that is refused can be requested again") {
  choose_backend();
  every_step_may_fail([](Attempt& attempt) {
    const auto store = std::make_shared<HashStore>();
    on_ranks([&](int rank, const auto& meet) {
      const auto world = open_world(rank, store);
      const Tensor sum = tensor::full({4}, 1.0);
      std::optional<Work> work;
      meet();
      if (!attempt.may_fail([&] { work = world->all_reduce(sum, ReduceOp::Sum, {.async = true}); })) {
        work = world->all_reduce(sum, ReduceOp::Sum, {.async = true});
      }
      if (!attempt.may_fail([&] { work->wait(); })) world->abort();
      meet();
    });
  });
}

TEST_CASE("point-to-point messages arrive or fail") {
  try_collective([](ProcessGroup& group, Attempt&) {
    const Tensor tensor = tensor::full({4}, 1.0);
    if (group.rank() == 0) group.send(tensor, 1).wait();
    if (group.rank() == 1) group.receive(tensor, 0).wait();
  });
}

TEST_CASE("groups have the same names on all ranks after any failure") {
  choose_backend();
  every_step_may_fail([](Attempt& attempt) {
    const auto store = std::make_shared<HashStore>();
    on_ranks([&](int rank, const auto& meet) {
      const auto world = open_world(rank, store);
      meet();
      attempt.may_fail_or_time_out([&] { collectives::new_group(kAll, *world, options(kShort)); });
      meet();
      require_sum(*collectives::new_group(kAll, *world));
      require_sum(*world);
    });
  });
}

TEST_CASE("a default group that was not opened can be opened again") {
  choose_backend();
  every_step_may_fail([](Attempt& attempt) {
    const auto store = std::make_shared<HashStore>();
    on_ranks([&](int rank, const auto& meet) {
      collectives::is_initialized();
      meet();
      WorldOptions made;
      made.store = store;
      made.rank = rank;
      made.world_size = kRanks;
      made.group = options(kShort);
      const bool is_open = attempt.may_fail_or_time_out([&] { collectives::init_process_group(made); });
      meet();
      if (is_open) attempt.may_fail([] { collectives::destroy_process_group(); });
      if (collectives::is_initialized()) collectives::destroy_process_group();
      meet();
      require_sum(*open_world(rank, store));
      meet();
    });
  });
}

}  // namespace
}  // namespace distrun
