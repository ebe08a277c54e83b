// Process groups of which a rank is killed.
#include <catch2/catch.hpp>

#include <numeric>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/collectives/backends.hpp>
#include <distrun/runtime/collectives/monitored_barrier.hpp>
#include <distrun/runtime/collectives/process_group.hpp>
#include <distrun/runtime/store/file_store.hpp>
#include <distrun/tensors.hpp>

#include "deaths.hpp"
#include "support/skip.hpp"

namespace distrun::testing::deaths {
namespace {

using collectives::ProcessGroup;
using Group = std::shared_ptr<ProcessGroup>;

Group join(int rank, const std::string& folder, const std::string& backend) {
  collectives::GroupInfo info;
  info.name = "world";
  info.rank = rank;
  info.ranks.resize(kRanks);
  std::iota(info.ranks.begin(), info.ranks.end(), 0);
  return std::make_shared<ProcessGroup>(info, std::make_shared<FileStore>(folder + "/store"),
                                        GroupOptions{backend, std::chrono::seconds(25)});
}

Case in_group(const char* name, const char* backend, std::function<void(ProcessGroup&)> call) {
  return {name, [backend, call = std::move(call)](int rank, const std::string& folder) -> Operation {
            return [group = join(rank, folder, backend), call] { call(*group); };
          }};
}

Case struck_before(Case tested) {
  tested.is_struck_before = true;
  return tested;
}

void all_reduce(ProcessGroup& group, std::int64_t size) { group.all_reduce(ones({size})); }

// Each waits for a message of the next in the row 3, 1, 0, and that one for the victim's. Who gets none leaves.
void hand_on(ProcessGroup& group) {
  const int from = group.rank() == 3 ? 1 : group.rank() == 1 ? 0 : kVictim;
  try {
    group.receive(zeros({1}), from);
  } catch (const Error&) {
    group.leave();
    throw;
  }
}

// The first call fails, and with it the group: the next one says why.
void call_again(ProcessGroup& group) {
  try {
    group.barrier();
  } catch (const Error&) {
    group.barrier();
  }
}

// Only the first rank waits for the victim; the others wait for the first.
void follow_the_first(ProcessGroup& group) {
  if (group.rank() == 0) group.receive(zeros({1}), kVictim);
  group.broadcast(ones({1000}), 0);
}
void leave_first(ProcessGroup& group) {
  try {
    follow_the_first(group);
  } catch (const Error&) {
    group.abort("its letter has not come");
    throw;
  }
}

std::vector<Case> cases_of(const char* backend) {
  return {
      in_group("all_reduce", backend, [](ProcessGroup& group) { all_reduce(group, 10); }),
      in_group("all_reduce of much", backend, [](ProcessGroup& group) { all_reduce(group, 300'000); }),
      struck_before(
          in_group("all_reduce after the death", backend, [](ProcessGroup& group) { all_reduce(group, 10); })),
      in_group("an async all_reduce", backend,
               [](ProcessGroup& group) { group.all_reduce(ones({10}), ReduceOp::Sum, {.async = true}).wait(); }),
      in_group("barrier", backend, [](ProcessGroup& group) { group.barrier(); }),
      in_group("a call in a group that has failed", backend, call_again),
      in_group("messages that are handed on", backend, hand_on),
      in_group("a rank that gives up because of the death", backend, leave_first),
      in_group("a large message to it", backend, [](ProcessGroup& group) { group.send(ones({300'000}), kVictim); }),
      in_group("a message from any rank", backend, [](ProcessGroup& group) { group.receive_from_any(zeros({1})); }),
      in_group("monitored_barrier", backend, [](ProcessGroup& group) { collectives::monitored_barrier(group); }),
      struck_before(in_group("monitored_barrier of all ranks after the death", backend,
                             [](ProcessGroup& group) { collectives::monitored_barrier(group, {}, true); })),
  };
}

TEST_CASE("over shared memory all others name the rank that was killed, not those that go because of it") {
  check(cases_of("shm"));
}

TEST_CASE("with gloo, too, all others name the rank that was killed") {
  const std::string why_not = collectives::why_no_backend("gloo");
  skip_case_if(!why_not.empty(), why_not);
  check(cases_of("gloo"));
}

}  // namespace
}  // namespace distrun::testing::deaths
