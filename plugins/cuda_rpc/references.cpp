// Values of references that streams are still computing while they are fetched.
#include "suites.hpp"

using namespace distrun;
using namespace distrun::suites;

namespace {

// The devices of the test's tensors, and of the owner's network.
struct Places {
  std::int16_t data, net;
};

Tensor digits_on(std::int16_t index) {
  return randn({scaled_product(200), 1, 28, 28}, {.device = device::cuda(index)});
}
RRef<MyConvNetForMNIST> network_at(const std::string& worker, std::int16_t index) {
  return remote<MyConvNetForMNIST>(worker, "MyConvNetForMNIST", device::cuda(index));
}
// `expected` is the network's result for the same input, computed and sent in one call.
void expect_same(const Tensor& actual, const Tensor& expected, std::int16_t index) {
  expect_on(device::cuda(index), actual, expected);
  DISTRUN_EXPECT((expected.device() == device::cuda(index)));
}

// Rank 1 calls a network of worker2.
void expect_to_here(Rank& rank, Places on) {
  note_scale(rank);
  start_with_map(rank, next_worker(rank), {{on.data, on.net}});
  if (rank.rank() == 1) {
    const auto network = network_at("worker2", on.net);
    for (int i = 0; i < scaled_rounds(10); ++i) {
      const Tensor x = digits_on(on.data);
      const Tensor actual = network.remote().call<Tensor>("forward", x).to_here();
      expect_same(actual, network.rpc_sync().call<Tensor>("forward", x), on.data);
    }
  }
  rpc::shutdown();
}

// The same with a reference to the input; the network fetches it from rank 1.
void expect_as_argument(Rank& rank, Places on, const std::vector<rpc::MapDevice>& devices = {}) {
  note_scale(rank);
  const auto options = rpc_options(rank);
  options->set_device_map(next_worker(rank), {{on.data, on.net}});
  options->set_device_map(next_worker(rank, 3), {{on.net, on.data}});
  if (!devices.empty()) options->set_devices(devices);
  rank.barrier("all have begun");
  start_rpc(rank, options);
  if (rank.rank() == 1) {
    const auto network = network_at("worker2", on.net);
    for (int i = 0; i < scaled_rounds(10); ++i) {
      const RRef<Tensor> x(digits_on(on.data));
      const Tensor actual = network.remote().call<Tensor>("forward", x, true).to_here();
      expect_same(actual, network.rpc_sync().call<Tensor>("forward", x, true), on.data);
    }
  }
  rpc::shutdown();
}

// A ring: rank 0 has the tensors, worker1 the network, and worker2 forwards the network's results.
void set_maps_of_relay(rpc::PipeOptions& options, int rank, Places on, std::int16_t relay) {
  switch (rank) {
    case 0:
      options.set_device_map("worker1", {{on.data, on.net}});
      return options.set_device_map("worker2", {{on.data, relay}});
    case 1: return options.set_device_map("worker0", {{on.net, on.data}});
    case 2: return options.set_device_map("worker1", {{relay, on.net}});
    default: return;
  }
}
void expect_relayed(Rank& rank, Places on, std::int16_t relay) {
  note_scale(rank);
  const auto options = rpc_options(rank);
  set_maps_of_relay(*options, rank.rank(), on, relay);
  rank.barrier("all have begun");
  start_rpc(rank, options);
  if (rank.is_master()) {
    const auto network = network_at("worker1", on.net);
    for (int i = 0; i < scaled_rounds(10); ++i) {
      const RRef<Tensor> x(digits_on(on.data));
      const auto made = network.remote().call<Tensor>("forward", x, true);
      const Tensor actual = remote("worker2", rref_relay, made).to_here();
      expect_same(actual, network.rpc_sync().call<Tensor>("forward", x, true), on.data);
    }
  }
  rpc::shutdown();
}

// Rank 0 alone calls itself.
void expect_own(Rank& rank, Places on) {
  note_scale(rank);
  if (!rank.is_master()) return;
  const auto options = rpc_options(rank);
  options->set_device_map("w0", {{on.data, on.net}});
  rpc::init_rpc({.name = "w0", .backend = {}, .rank = 0, .world_size = 1, .options = options});
  {
    const std::int64_t size = scaled_product(2048);
    const auto model = remote<LinearObject>("w0", "Linear", size, scaled_product(20000))
                           .remote()
                           .call<LinearObject>("to", device::cuda(on.net));
    for (int i = 0; i < scaled_rounds(30); ++i) {
      const Tensor data = rand({size, size}, {.device = device::cuda(on.data)});
      const Tensor output = model.rpc_sync().call<Tensor>("forward", data);
      const Tensor there = RRef<Tensor>(output).remote().call<Tensor>("sum").to_here();
      DISTRUN_EXPECT((output.device() == device::cuda(on.data)));
      DISTRUN_EXPECT(there.item_as<double>() == sum(output).item_as<double>());
    }
  }
  rpc::shutdown();
}

}  // namespace

// Each: the device of the tensors, and of the network.
DISTRUN_TEST(TensorPipeAgentCudaRpcTest, rref_to_here_synchronization1, .devices = 1) { expect_to_here(rank, {0, 0}); }
DISTRUN_TEST(TensorPipeAgentCudaRpcTest, rref_to_here_synchronization2, .devices = 2) { expect_to_here(rank, {1, 0}); }
DISTRUN_TEST(TensorPipeAgentCudaRpcTest, rref_to_here_synchronization3, .devices = 2) { expect_to_here(rank, {1, 1}); }
DISTRUN_TEST(TensorPipeAgentCudaRpcTest, rref_to_here_synchronization4, .devices = 2) { expect_to_here(rank, {0, 1}); }

DISTRUN_TEST(TensorPipeAgentCudaRpcTest, rref_as_arg_synchronization1, .devices = 1) {
  expect_as_argument(rank, {0, 0});
}
DISTRUN_TEST(TensorPipeAgentCudaRpcTest, rref_as_arg_synchronization2, .devices = 2) {
  expect_as_argument(rank, {1, 0});
}
DISTRUN_TEST(TensorPipeAgentCudaRpcTest, rref_as_arg_synchronization3, .devices = 2) {
  expect_as_argument(rank, {1, 1});
}
DISTRUN_TEST(TensorPipeAgentCudaRpcTest, rref_as_arg_synchronization4, .devices = 2) {
  expect_as_argument(rank, {0, 1});
}
DISTRUN_TEST(TensorPipeAgentCudaRpcTest, rref_as_arg_synchronization5, .devices = 1) {
  expect_as_argument(rank, {0, 0}, {"cuda:0"});
}

// And the device on worker2 in between.
DISTRUN_TEST(TensorPipeAgentCudaRpcTest, rref_forward_synchronization1, .devices = 1) {
  expect_relayed(rank, {0, 0}, 0);
}
DISTRUN_TEST(TensorPipeAgentCudaRpcTest, rref_forward_synchronization2, .devices = 2) {
  expect_relayed(rank, {0, 1}, 0);
}
DISTRUN_TEST(TensorPipeAgentCudaRpcTest, rref_forward_synchronization3, .devices = 2) {
  expect_relayed(rank, {1, 0}, 1);
}
DISTRUN_TEST(TensorPipeAgentCudaRpcTest, rref_forward_synchronization4, .devices = 2) {
  expect_relayed(rank, {1, 1}, 1);
}

DISTRUN_TEST(TensorPipeAgentCudaRpcTest, owner_rref_forward_synchronization1, .devices = 1) {
  expect_own(rank, {0, 0});
}
DISTRUN_TEST(TensorPipeAgentCudaRpcTest, owner_rref_forward_synchronization2, .devices = 2) {
  expect_own(rank, {0, 1});
}
DISTRUN_TEST(TensorPipeAgentCudaRpcTest, owner_rref_forward_synchronization3, .devices = 2) {
  expect_own(rank, {1, 0});
}
DISTRUN_TEST(TensorPipeAgentCudaRpcTest, owner_rref_forward_synchronization4, .devices = 2) {
  expect_own(rank, {1, 1});
}

DISTRUN_TEST(TensorPipeAgentCudaRpcTest, rref_with_unpickleable_attributes, .devices = 1) {
  start_with_map(rank, next_worker(rank), {{0, 0}});
  {
    const auto wrapper =
        remote<TensorWrapper>(next_worker(rank), "TensorWrapper", zeros({42}, {.device = device::cuda(0)}));
    DISTRUN_EXPECT(wrapper.rpc_sync().call("increase", 1).is_none());
    DISTRUN_EXPECT(wrapper.rpc_sync().call<Tensor>("sum").item_as<double>() == 42.0);
  }
  rpc::shutdown();
}
