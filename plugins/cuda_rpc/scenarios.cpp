#include <algorithm>

#include "suites.hpp"

namespace distrun::suites {
namespace {

Tensor square_on_gpu(double value) { return full({2, 2}, value, {.device = device::cuda(0)}); }

device::Device there(const DevicePairs& map, rpc::MapDevice from) {
  const auto found = std::ranges::find(map, from.device, [](const auto& pair) { return pair.first.device; });
  return found->second.device;
}
device::Device here(const DevicePairs& map, rpc::MapDevice to) {
  const auto found = std::ranges::find(map, to.device, [](const auto& pair) { return pair.second.device; });
  return found->first.device;
}

}  // namespace

void expect_sum_by_map(Rank& rank, const std::string& worker, const DevicePairs& map, rpc::MapDevice x_from,
                       rpc::MapDevice y_from, rpc::MapDevice z_to) {
  start_with_map(rank, worker, map);
  const Tensor sum = rpc_sync(worker, gpu_add_given_gpus, zeros_on(x_from), ones_on(y_from), there(map, x_from),
                              there(map, y_from), z_to.device);
  expect_on(here(map, z_to), sum, ones({2}));
  rpc::shutdown();
}

void expect_fetched_by_map(Rank& rank, const DevicePairs& map, rpc::MapDevice here) {
  start_with_map(rank, next_worker(rank), map);
  {
    const RRef<Tensor> rref = remote(next_worker(rank), add_to_gpu, zeros({2}), 1);
    for (int i = 0; i < 2; ++i) expect_on(here, rref.to_here(), ones({2}));
  }
  rpc::shutdown();
}

void expect_slow_add(Rank& rank, const DevicePairs& map) {
  note_scale(rank);
  start_with_map(rank, next_worker(rank), map);
  const Tensor x = square_on_gpu(1);
  expect_on(0, rpc_sync(next_worker(rank), slow_add_on_user_stream, x, x), square(2, 2));
  rpc::shutdown();
}

void expect_many_slow_adds(Rank& rank, const DevicePairs& map) {
  note_scale(rank);
  start_with_map(rank, next_worker(rank), map);
  std::vector<Future<Tensor>> sums;
  for (int i = 0; i < 20; ++i) {
    const Tensor x = square_on_gpu(i);
    sums.push_back(rpc_async(next_worker(rank), slow_add_on_user_stream, x, x));
  }
  for (int i = 0; i < 20; ++i) expect_on(0, sums[static_cast<std::size_t>(i)].wait(), square(2, 2 * i));
  rpc::shutdown();
}

void expect_nested_slow_add(Rank& rank, const DevicePairs& map) {
  note_scale(rank);
  start_with_map(rank, next_worker(rank), map);
  const Tensor sum = rpc_sync(next_worker(rank), nested_slow_add_on_user_stream, next_worker(rank, 2), square_on_gpu(1),
                              square_on_gpu(2), square_on_gpu(3));
  expect_on(0, sum, square(2, 6));
  rpc::shutdown();
}

void expect_many_nested_slow_adds(Rank& rank, const DevicePairs& map) {
  note_scale(rank);
  start_with_map(rank, next_worker(rank), map);
  if (rank.is_master()) {
    std::vector<Future<Tensor>> sums;
    for (int i = 0; i < 5; ++i) {
      sums.push_back(rpc_async("worker1", nested_slow_add_on_user_stream, "worker2", square_on_gpu(i - 1),
                               square_on_gpu(i), square_on_gpu(i + 1)));
    }
    for (int i = 0; i < 5; ++i) expect_on(0, sums[static_cast<std::size_t>(i)].wait(), square(2, 3 * i));
  }
  rpc::shutdown();
}

void expect_calls_of_newcomers(Rank& rank, const std::vector<DevicePairs>& maps) {
  open_group(rank);
  const auto join = [&](const std::shared_ptr<rpc::PipeOptions>& options) {
    rpc::init_rpc({.name = std::string(rank.worker_name()),
                   .backend = agent_backend(rank),
                   .rank = rank.rank(),
                   .world_size = {},
                   .options = options});
  };
  if (rank.is_master()) {
    const auto options = rpc_options(rank);
    for (int other = 1; other < rank.world_size(); ++other) {
      for (const DevicePairs& map : maps) options->set_device_map(rank.worker_name(other), map);
    }
    join(options);
  }
  group_barrier();
  if (!rank.is_master()) join(rpc_options(rank));
  group_barrier();
  for (int other = 1; rank.is_master() && other < rank.world_size(); ++other) {
    for (const DevicePairs& map : maps) {
      const rpc::MapDevice from = map.front().first;
      expect_on(from, rpc_sync<Tensor>(rank.worker_name(other), "add", ones_on(from), 1), full({2}, 2));
    }
  }
  group_barrier();
  DISTRUN_EXPECT(rpc::is_initialized());
  rpc::shutdown();
}

void expect_callback_copies(Rank& rank, rpc::MapDevice from, rpc::MapDevice to) {
  note_scale(rank);
  const Tensor first = zeros({100}, {.device = from.device}), second = zeros({100}, {.device = to.device});
  for (const Tensor& each : {first, second}) device::synchronize(each.device());
  const Future<Tensor> parent({from.device, to.device});
  const Future<Tensor> child =
      parent.then([second](const Future<Tensor>& done) { return copy_(second, done.value(), true); });
  {
    const device::StreamGuard guard(device::stream_from_pool(from.device));
    keep_busy(device::current_stream(from.device));
    fill_(first, 1);
    parent.set_result(first);
  }
  const device::StreamGuard guard(device::stream_from_pool(to.device));
  expect_on(to, child.wait(), ones({100}));
}

}  // namespace distrun::suites
