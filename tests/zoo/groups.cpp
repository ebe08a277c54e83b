// Collectives over one group and over several, messages in groups, stores, and devices that wait for collectives.
#include <distrun/collectives.hpp>
#include <distrun/tensors.hpp>

#include <mutex>

#include "zoo.hpp"

namespace {

using namespace distrun;

using Group = std::shared_ptr<ProcessGroup>;

// Creates a group that only its members know, as libraries do when a pair communicates for the first time.
Group pair_group(Rank& rank, int low, int high) {
  collectives::GroupInfo info;
  info.name = "pair " + std::to_string(low) + "-" + std::to_string(high);
  info.ranks = {low, high};
  info.rank = rank.rank() == low ? 0 : 1;
  const auto store = std::make_shared<PrefixStore>(info.name, distrun::store(rank));
  return std::make_shared<ProcessGroup>(info, store, GroupOptions{});  // culprit: create_pair
}

void use_both(ProcessGroup& one, ProcessGroup& two) {
  const Tensor tensor = ones({4});
  one.all_reduce(tensor);  // culprit: use_both
  two.all_reduce(tensor);
}

const std::int64_t kMuch = 8 << 20;

Tensor on_device(const ProcessGroup& group) { return ones({4}, {F32, group.device()}); }

}  // namespace

DISTRUN_TEST(Groups, without_a_rank_that_sleeps) {
  const Group group = init_process_group(rank);
  if (rank.rank() == 2) sleep(zoo::kPatienceS);  // culprit: group_sleeper
  group->all_reduce(ones({4}));
}

DISTRUN_TEST(Groups, without_a_rank_in_a_receive) {
  const Group group = init_process_group(rank);
  if (rank.rank() == 2) rank.receive(0, "never");  // culprit: group_receiver
  group->all_reduce(ones({4}));
}

DISTRUN_TEST(Groups, without_a_rank_in_a_barrier) {
  const Group group = init_process_group(rank);
  if (rank.rank() == 2) rank.barrier("epoch");  // culprit: group_barrier
  group->all_gather({ones({4}), ones({4}), ones({4}), ones({4})}, ones({4}));
  rank.barrier("epoch");
}

DISTRUN_TEST(Groups, whose_barrier_lacks_a_rank) {
  const Group group = init_process_group(rank);
  if (rank.rank() == 2) sleep(zoo::kPatienceS);  // culprit: barrier_of_three
  group->barrier();
}

DISTRUN_TEST(Groups, that_a_rank_never_joins) {
  if (rank.rank() == 2) sleep(zoo::kPatienceS);  // culprit: never_joins
  init_process_group(rank);
}

DISTRUN_TEST(Groups, two_in_different_orders) {
  const Group world = init_process_group(rank);
  const Group one = new_group({0, 1});
  const Group two = new_group({0, 1});
  rank.rank() == 0 ? use_both(*one, *two) : use_both(*two, *one);
}

// Each rank is in two of three pairs.
DISTRUN_TEST(Groups, three_pairs_in_a_ring) {
  const Group world = init_process_group(rank);
  const Group pairs[] = {new_group({0, 1}), new_group({1, 2}), new_group({0, 2})};
  if (rank.rank() == 0) use_both(*pairs[0], *pairs[2]);
  if (rank.rank() == 1) use_both(*pairs[1], *pairs[0]);
  if (rank.rank() == 2) use_both(*pairs[2], *pairs[1]);
}

// Pairs are created when they are first used: rank 0 begins with 0-1, rank 1 with 1-2, rank 2 with 0-2.
DISTRUN_TEST(Groups, pairs_created_in_different_orders) {
  if (rank.rank() == 0) pair_group(rank, 0, 1), pair_group(rank, 0, 2);
  if (rank.rank() == 1) pair_group(rank, 1, 2), pair_group(rank, 0, 1);
  if (rank.rank() == 2) pair_group(rank, 0, 2), pair_group(rank, 1, 2);
}

// The first rank of each half waits in the half's group, and the others in the world's.
DISTRUN_TEST(Groups, of_halves_and_the_world) {
  const Group world = init_process_group(rank);
  const Group half = split(*world, rank.rank() / 2);
  if (rank.rank() % 2 == 0) half->all_reduce(ones({4}));  // culprit: halves
  world->all_reduce(ones({4}));                           // culprit: halves
  if (rank.rank() % 2 == 1) half->all_reduce(ones({4}));
}

DISTRUN_TEST(Groups, whose_ranks_both_send) {
  const Group group = init_process_group(rank);
  const Tensor much = ones({kMuch});
  group->send(much, 1 - rank.rank());  // culprit: both_send
  group->receive(much, 1 - rank.rank());
}

DISTRUN_TEST(Groups, whose_ranks_both_receive) {
  const Group group = init_process_group(rank);
  const Tensor tensor = ones({4});
  group->receive(tensor, 1 - rank.rank());  // culprit: both_receive
  group->send(tensor, 1 - rank.rank());
}

DISTRUN_TEST(Groups, that_receive_with_another_tag) {
  const Group group = init_process_group(rank);
  const Tensor tensor = ones({4});
  if (rank.rank() == 0) group->send(tensor, 1, 7);     // culprit: other_tag
  if (rank.rank() == 1) group->receive(tensor, 0, 8);  // culprit: other_tag
  rank.barrier("meet");
}

// ---- stores

DISTRUN_TEST(Stores, with_a_key_nobody_sets) {
  if (rank.rank() == 1) store(rank)->get("address of rank 7");  // culprit: key_nobody_sets
  rank.barrier("meet");
}

DISTRUN_TEST(Stores, with_keys_of_each_other) {
  const std::string own = std::to_string(rank.rank());
  const std::string other = std::to_string(1 - rank.rank());
  store(rank)->get(other);  // culprit: keys_of_each_other
  store(rank)->set(own, "here");
}

DISTRUN_TEST(Stores, with_an_empty_queue) {
  if (rank.rank() == 1) store(rank)->queue_pop("work");  // culprit: empty_queue
  rank.barrier("meet");
}

// ---- devices: --gpu-driver virtual

// The work is on the stream; only the synchronisation waits.
DISTRUN_TEST(DeviceGroups, without_a_rank_that_sleeps) {
  const Group group = init_process_group(rank);
  const Tensor tensor = on_device(*group);
  if (rank.rank() == 1) sleep(zoo::kPatienceS);  // culprit: device_sleeper
  group->all_reduce(tensor);
  device::synchronize(group->device());
}

DISTRUN_TEST(DeviceGroups, read_before_a_barrier) {
  const Group group = init_process_group(rank);
  const Tensor tensor = on_device(*group);
  if (rank.rank() == 1) rank.barrier("epoch");  // culprit: device_barrier
  group->all_reduce(tensor);
  tensor.sum().item<float>();
  rank.barrier("epoch");
}

// All but two ranks are in the world's all_reduce and wait for their device; the last two want a number of their pair
// first, and each begins with another one.
DISTRUN_TEST(DeviceGroups, behind_a_pair) {
  const Group world = init_process_group(rank);
  const int last = rank.world_size() - 1;
  const Group loss = new_group({last - 1, last});
  const Group norm = new_group({last - 1, last});
  const Tensor tensor = on_device(*world);
  if (rank.rank() >= last - 1) {
    ProcessGroup& pair = rank.rank() == last ? *loss : *norm;
    pair.all_reduce(tensor);
    tensor.sum().item<float>();  // culprit: pair_wants_a_number
  }
  world->all_reduce(tensor);
  device::synchronize(world->device());
}

// A function of the host that the stream runs, and that does not return.
DISTRUN_TEST(Devices, whose_host_function_sleeps) {
  zoo::others_meet(rank, [] {
    const Stream stream = device::stream_from_pool(device::cuda(0));
    stream.driver().call_host(stream.ref(), [] {
      sleep(zoo::kPatienceS);  // culprit: host_function_sleeps
    });
    stream.synchronize();  // culprit: host_function_sleeps
  });
}

// The function wants a lock that the thread holds which waits for the stream.
DISTRUN_TEST(Devices, synchronised_under_a_lock) {
  zoo::others_meet(rank, [] {
    static std::mutex mutex;
    const Stream stream = device::stream_from_pool(device::cuda(0));
    const std::lock_guard lock(mutex);
    stream.driver().call_host(stream.ref(), [] {
      const std::lock_guard same(mutex);  // culprit: under_a_lock
    });
    stream.synchronize();  // culprit: under_a_lock
  });
}
