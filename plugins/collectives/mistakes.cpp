// Ranks with different or late calls: the others get an error that names the culprit, and a new group works.
#include <distrun/runtime/core/hosts.hpp>

#include "values.hpp"

namespace {

using namespace distrun;
using namespace distrun::suites;
using std::chrono::milliseconds;
using std::chrono::seconds;

// Returns the error of a call that must fail.
template <class Call>
std::string error_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

constexpr char kGivenUp[] = "has given up the group";  // another rank has detected it first

void expect_text(const std::string& text, const std::string& part, const std::string& or_part = kGivenUp,
                 base::Location where = base::Location::here()) {
  if (has(text, part) || has(text, or_part)) return;
  throw Error(ErrorKind::Failed, "CheckFailed", "\"" + text + "\" has no \"" + part + "\"", where);
}

void expect_new_group_works(Rank& rank) {
  rank.barrier("all have failed");
  destroy_process_group();
  const auto group = init_process_group(rank);
  const Tensor tensor = here(tensor::ones({1}));
  group->all_reduce(tensor);
  expect_same(tensor, here(tensor::full({1}, rank.world_size())));
}

}  // namespace

DISTRUN_SUITE(Mistakes, .skip = {needs_gpus_for_nccl()});

DISTRUN_TEST(Mistakes, another_collective, .skip = {require_world_size(2)}) {
  const auto group = init_process_group(rank);
  const Tensor tensor = here(tensor::ones({4}));
  const std::string why = error_of([&] { settle(rank.rank() == 1 ? group->barrier() : group->all_reduce(tensor)); });
  expect_text(why, "barrier number 1");
  expect_new_group_works(rank);
}

DISTRUN_TEST(Mistakes, another_size, .skip = {require_world_size(2)}) {
  const auto group = init_process_group(rank);
  const Tensor tensor = here(tensor::ones({rank.rank() == 1 ? 5 : 4}));
  const std::string why = error_of([&] { settle(group->all_reduce(tensor)); });
  expect_text(why, "rank 1 is in all_reduce number 1, sum, float32 [5] (mistakes.cpp:");
  expect_new_group_works(rank);
}

DISTRUN_TEST(Mistakes, another_dtype, .skip = {require_world_size(2)}) {
  const auto group = init_process_group(rank);
  const Tensor tensor = here(tensor::ones({4}, {rank.rank() == 1 ? DType::I32 : DType::F32}));
  const std::string why = error_of([&] { settle(group->all_reduce(tensor)); });
  expect_text(why, "rank 1 is in all_reduce number 1, sum, int32 [4]");
  expect_new_group_works(rank);
}

DISTRUN_TEST(Mistakes, another_root_or_operation, .skip = {require_world_size(2)}) {
  const auto group = init_process_group(rank);
  const Tensor tensor = here(tensor::ones({4}));
  const std::string why =
      error_of([&] { settle(group->all_reduce(tensor, rank.rank() == 1 ? ReduceOp::Max : ReduceOp::Sum)); });
  expect_text(why, "all_reduce number 1, max");
  expect_new_group_works(rank);
}

DISTRUN_TEST(Mistakes, other_sizes_of_as_many_elements_in_detail, .skip = {require_world_size(2)}) {
  collectives::set_debug_level(DebugLevel::Detail);
  const auto group = init_process_group(rank);
  const Tensor tensor = rank.rank() == 1 ? here(tensor::ones({4})) : here(tensor::ones({2, 2}));
  const std::string why = error_of([&] { settle(group->all_reduce(tensor)); });
  rank.barrier("all have seen it");
  collectives::set_debug_level(DebugLevel::Off);
  expect_text(why, "float32 [2, 2]");
  expect_new_group_works(rank);
}

DISTRUN_TEST(Mistakes, a_rank_that_does_not_come, .skip = {require_world_size(2)}) {
  const auto group = init_process_group(rank);
  const Tensor tensor = here(tensor::ones({4}));
  if (rank.rank() != 1) {
    const std::string why =
        error_of([&] { settle(group->all_reduce(tensor, ReduceOp::Sum, {.timeout = seconds(2)})); });
    expect_text(why, "all_reduce number 1 of group world has timed out");
    if (has(why, "timed out")) {
      // What a rank of another host waits for is not known here.
      expect_text(why, core::known_hosts().is_here(1) ? "it waits for rank 1 (waits in barrier \"all have failed\""
                                                      : "it waits for rank 1");
    }
  }
  expect_new_group_works(rank);
}

DISTRUN_TEST(Mistakes, after_which_the_group_is_of_no_use, .skip = {require_world_size(2)}) {
  const auto group = init_process_group(rank);
  if (rank.rank() == 1) {
    DISTRUN_EXPECT_THROWS(Error, "timed out", group->barrier({.timeout = milliseconds(20)}));
    DISTRUN_EXPECT_THROWS(Error, "group world can no longer be used: barrier number 1 of group world has timed out",
                          group->barrier());
  }
  rank.barrier("rank 1 has given up");
  if (rank.rank() != 1)
    DISTRUN_EXPECT_THROWS(PeerFailed, "rank 1 has given up the group: barrier number 1", group->barrier());
  expect_new_group_works(rank);
}

DISTRUN_TEST(Mistakes, a_group_that_is_aborted, .skip = {require_world_size(2)}) {
  const auto group = init_process_group(rank);
  if (rank.rank() == 0) {
    const Work work = group->barrier({.async = true});
    group->abort("it was no longer needed");
    expect_text(error_of([&] { work.wait(); }), "this rank has left the group", "it was no longer needed");
  }
  rank.barrier("rank 0 has aborted it");  // before the others could make their call
  if (rank.rank() != 0) {
    DISTRUN_EXPECT_THROWS(PeerFailed, "rank 0 has given up the group: it was no longer needed", group->barrier());
  }
  expect_new_group_works(rank);
}

DISTRUN_TEST(Mistakes, a_rank_that_has_left, .skip = {require_world_size(2)}) {
  const auto group = init_process_group(rank);
  if (rank.rank() == 1) {
    group->leave();
  } else {
    const std::string why = error_of([&] { group->barrier(); });
    expect_text(why, "rank 1 has left the group");
  }
  expect_new_group_works(rank);
}

DISTRUN_TEST(Mistakes, a_monitored_barrier_names_who_is_missing,
             .skip = {require_world_size(2), not_with_nccl("it has no monitored barrier")}) {
  const auto group = init_process_group(rank);
  const int missing = rank.world_size() - 1;
  if (rank.rank() == 0) {
    const std::string name = "Rank " + std::to_string(missing) + " failed to pass monitoredBarrier in 2000 ms";
    DISTRUN_EXPECT_THROWS(Error, name, monitored_barrier(*group, seconds(2), true));
  } else if (rank.rank() != missing) {
    DISTRUN_EXPECT_THROWS(Error, "timed out in monitoredBarrier after 2000 ms", monitored_barrier(*group, seconds(2)));
  }
  rank.barrier("all have seen it");
  group->barrier();  // the group can still be used
}

DISTRUN_TEST(Mistakes, who_comes_late_to_a_monitored_barrier_has_not_come_to_the_next,
             .skip = {require_world_size(2), not_with_nccl("it has no monitored barrier")}) {
  const auto group = init_process_group(rank);
  const int late = rank.world_size() - 1;
  const std::string name = "Rank " + std::to_string(late) + " failed to pass monitoredBarrier";
  if (rank.rank() != late) {
    DISTRUN_EXPECT_THROWS(Error, "monitoredBarrier", monitored_barrier(*group, milliseconds(500), true));
  }
  rank.barrier("the first has failed");
  if (rank.rank() == late) {
    DISTRUN_EXPECT_THROWS(Error, "timed out in monitoredBarrier", monitored_barrier(*group, milliseconds(500)));
  }
  rank.barrier("the late one has given up");
  if (rank.rank() == 0) {
    DISTRUN_EXPECT_THROWS(Error, name, monitored_barrier(*group, seconds(2), true));
  } else if (rank.rank() != late) {
    DISTRUN_EXPECT_THROWS(Error, "timed out in monitoredBarrier", monitored_barrier(*group, seconds(2)));
  }
  rank.barrier("all have seen it");
}

DISTRUN_TEST(Mistakes, arguments_are_looked_at_first) {
  const auto group = init_process_group(rank);
  const int n = group->size();
  const Tensor f32 = here(tensor::ones({4})), i32 = here(tensor::ones({4}, {DType::I32}));
  DISTRUN_EXPECT_THROWS(Error, "broadcast: invalid root rank: " + std::to_string(n), group->broadcast(f32, n));
  DISTRUN_EXPECT_THROWS(Error, "all_reduce: the tensor is undefined", group->all_reduce(Tensor()));
  DISTRUN_EXPECT_THROWS(Error, "all_reduce: cannot use band with float32", group->all_reduce(f32, ReduceOp::BitAnd));
  DISTRUN_EXPECT_THROWS(Error, "all_reduce: cannot use avg with int32", group->all_reduce(i32, ReduceOp::Avg));
  DISTRUN_EXPECT_THROWS(Error, "requires non-empty tensor list", group->all_reduce_coalesced({}));
  DISTRUN_EXPECT_THROWS(Error, "invalid tensor type at index 1 (expected float32, got int32)",
                        group->all_reduce_coalesced({f32, i32}));
  DISTRUN_EXPECT_THROWS(Error, "incorrect output list size 0", group->all_gather({}, f32));
  DISTRUN_EXPECT_THROWS(Error, "invalid tensor size at index 0 (expected 4 elements, got [3])",
                        group->all_gather(room_for(n, 3), f32));
  DISTRUN_EXPECT_THROWS(Error, "output tensor size must be equal to world_size times",
                        group->all_gather_into(f32, here(tensor::ones({5}))));
  const int other = (rank.rank() + 1) % n;
  if (n > 1) {
    const char* const shared = "share memory; give each result separate memory";
    TensorList rooms = room_for(n, 4);
    DISTRUN_EXPECT_THROWS(Error, shared, group->all_to_all(rooms, rooms));
    const auto own = static_cast<std::size_t>(rank.rank());
    TensorList longer = room_for(n, 4);
    longer[own] = here(tensor::ones({5}));
    DISTRUN_EXPECT_THROWS(Error, "all_to_all: invalid tensor size at index " + std::to_string(own),
                          group->all_to_all(longer, rooms));
    rooms.back() = rooms.front();
    DISTRUN_EXPECT_THROWS(Error, shared, group->all_gather(rooms, f32));
    const Tensor matrix = here(tensor::ones({4, n}));
    TensorList columns;
    for (int i = 0; i < n; ++i) columns.push_back(tensor::narrow(matrix, 1, i, 1));
    columns.back() = columns.front();
    DISTRUN_EXPECT_THROWS(Error, shared, group->all_gather(columns, f32));
    DISTRUN_EXPECT_THROWS(Error, "several elements of the output share memory",
                          group->all_reduce(tensor::expand(here(tensor::ones({1})), {4})));
    const Tensor all = here(tensor::ones({4 * n}));
    DISTRUN_EXPECT_THROWS(Error, shared, group->all_gather_into(all, tensor::narrow(all, 0, 4 * other, 4)));
    DISTRUN_EXPECT_THROWS(Error, "requires empty output on non-root", group->gather(room_for(n, 4), f32, other));
    DISTRUN_EXPECT_THROWS(Error, "requires empty input on non-root", group->scatter(f32, room_for(n, 4), other));
    DISTRUN_EXPECT_THROWS(Error, "does not divide equally",
                          group->all_to_all_single(here(tensor::ones({n + 1})), here(tensor::ones({n + 1}))));
  }
  DISTRUN_EXPECT_THROWS(
      Error, "only supports dense tensors",
      group->all_reduce(tensor::sparse_coo(here(tensor::zeros({1, 1}, {DType::I64})), here(tensor::ones({1})), {2})));
  DISTRUN_EXPECT_THROWS(Error, "send: invalid rank: -1", group->send(f32, -1));
  group->barrier();  // the other ranks do not know of the failed calls
}
