// Process groups of which a rank is killed.
#include <catch2/catch.hpp>

#include <algorithm>
#include <numeric>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/collectives/backends.hpp>
#include <distrun/runtime/collectives/monitored_barrier.hpp>
#include <distrun/runtime/collectives/process_group.hpp>
#include <distrun/runtime/core/rank_state.hpp>
#include <distrun/runtime/future/unseen_errors.hpp>
#include <distrun/runtime/store/file_store.hpp>
#include <distrun/tensors.hpp>

#include "deaths.hpp"
#include "support/skip.hpp"

namespace distrun::testing::deaths {
namespace {

using collectives::ProcessGroup;
using Group = std::shared_ptr<ProcessGroup>;

// Null for a rank that is none of them.
Group join_some(int rank, const std::string& folder, const std::string& backend, const std::vector<int>& ranks) {
  const auto own = std::find(ranks.begin(), ranks.end(), rank);
  if (own == ranks.end()) return nullptr;
  collectives::GroupInfo info;
  for (const int each : ranks) info.name += std::to_string(each);
  info.rank = static_cast<int>(own - ranks.begin());
  info.ranks = ranks;
  return std::make_shared<ProcessGroup>(info, std::make_shared<FileStore>(folder + "/store of " + info.name),
                                        GroupOptions{backend, std::chrono::seconds(25)});
}

Group join(int rank, const std::string& folder, const std::string& backend) {
  std::vector<int> all(kRanks);
  std::iota(all.begin(), all.end(), 0);
  return join_some(rank, folder, backend, all);
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

// Groups that have one rank in common: each rank is in the first, the second or both, and waits in its first one. When
// that ends because of the death, it leaves the other.
struct Row {
  std::vector<std::vector<int>> groups;
  std::function<void(ProcessGroup&)> leave;
  std::function<void(ProcessGroup&)> begin = {};  // by the ranks that are not in the first group
};

Operation wait_in_the_first(std::vector<Group> groups, const Row& row) {
  return [groups = std::move(groups), leave = row.leave] {
    try {
      all_reduce(*groups.front(), 10);
    } catch (const Error&) {
      for (std::size_t i = 1; i < groups.size(); ++i) leave(*groups[i]);
      for (const auto& failure : future::unseen_errors_of(core::rank_state()).take_failures()) {
        std::rethrow_exception(failure);  // it has nothing to answer for
      }
      throw;
    }
  };
}

Case in_row(const char* name, const char* backend, const Row& row) {
  return {name, [backend, row](int rank, const std::string& folder) -> Operation {
            std::vector<Group> own;
            for (const auto& ranks : row.groups) {
              if (auto group = join_some(rank, folder, backend, ranks)) own.push_back(std::move(group));
            }
            const bool is_first = std::count(row.groups[0].begin(), row.groups[0].end(), rank) != 0;
            if (row.begin && !is_first) row.begin(*own.front());
            return wait_in_the_first(own, row);
          }};
}

// The others have done a call already that the leaving rank has not.
void broadcast_from_1(ProcessGroup& group) {
  if (group.ranks()[static_cast<std::size_t>(group.rank())] == 1) group.broadcast(ones({1}), group.rank());
}

std::vector<Case> cases_of_rows(const char* backend) {
  const auto leave = [](ProcessGroup& group) { group.leave(); };
  const auto abort = [](ProcessGroup& group) { group.abort("the other group has failed"); };
  return {
      in_row("a rank that leaves a second group because of a death in the first", backend,
             {{{0, 2}, {3, 1, 0}}, leave}),
      in_row("a rank that gives up a second group", backend, {{{0, 2}, {0, 1, 3}}, abort}),
      in_row("a row of groups", backend, {{{2, 0}, {0, 1}, {1, 3}}, leave}),
      in_row("a row of groups that are given up", backend, {{{2, 0}, {0, 1}, {1, 3}}, abort}),
  };
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

TEST_CASE("over shared memory all others name the rank that was killed, not the ones that exit because of it") {
  check(cases_of("shm"));
}

TEST_CASE("with gloo, too, all others name the rank that was killed") {
  const std::string why_not = collectives::why_no_backend("gloo");
  skip_case_if(!why_not.empty(), why_not);
  check(cases_of("gloo"));
}

TEST_CASE("with gloo on two hosts all others name the rank that was killed, by its connection") {
  const std::string why_not = collectives::why_no_backend("gloo");
  skip_case_if(!why_not.empty(), why_not);
  std::vector<Case> cases;
  for (Case& each : cases_of("gloo")) cases.push_back(across_hosts(std::move(each)));
  for (Case& each : cases_of_rows("gloo")) cases.push_back(across_hosts(std::move(each)));
  check(cases);
}

TEST_CASE("the rank that was killed is named in groups that it is not in, too") {
  std::vector<Case> cases = cases_of_rows("shm");
  const auto leave = [](ProcessGroup& group) { group.leave(); };
  cases.push_back(
      in_row("a second group that has gone on", "shm", {{{0, 2}, {1, 0}, {3, 2}}, leave, broadcast_from_1}));
  check(cases);
}

TEST_CASE("with gloo, too, the rank that was killed is named in groups that it is not in") {
  const std::string why_not = collectives::why_no_backend("gloo");
  skip_case_if(!why_not.empty(), why_not);
  check(cases_of_rows("gloo"));
}

}  // namespace
}  // namespace distrun::testing::deaths
