// Gradients in ranks: graphs, passes and their errors, on the CPU and, where the run has one, on a GPU.
#include <atomic>
#include <vector>

#include <distrun/autograd/backward.hpp>
#include <distrun/autograd/function.hpp>
#include <distrun/autograd/operator_table.hpp>
#include <distrun/autograd/operators.hpp>
#include <distrun/autograd/variable.hpp>
#include <distrun/base/thread.hpp>
#include <distrun/nn/layers.hpp>
#include <distrun/nn/sgd.hpp>
#include <distrun/sdk/test.hpp>

namespace {

using distrun::Device;
using distrun::Tensor;
using distrun::TensorList;

// The devices on which a rank tries everything.
std::vector<Device> devices_of(const distrun::Rank& rank) {
  std::vector<Device> devices{distrun::device::kCpu};
  if (rank.gpus() > 0) devices.push_back(distrun::device::cuda(rank.rank() % rank.gpus()));
  return devices;
}

Tensor leaf(Device device, double value = 1) {
  return distrun::set_requires_grad(distrun::full({3, 3}, value, {distrun::DType::F32, device}));
}

bool is_full_of(const Tensor& tensor, double value) {
  return tensor.defined() && distrun::equal(distrun::cpu(tensor), distrun::full({3, 3}, value));
}

std::atomic<bool> fails{false};

struct MayFail {
  static Tensor forward(distrun::FunctionContext&, const Tensor& x) { return x * 1; }
  static TensorList backward(distrun::FunctionContext&, TensorList gradients) {
    if (fails) throw distrun::Error(distrun::ErrorKind::Failed, "a formula that fails");
    return gradients;
  }
};

// What a pass throws; empty if it doesn't.
std::string error_of(const Tensor& root) {
  try {
    distrun::backward(root);
  } catch (const distrun::Error& error) {
    return error.text();
  }
  return {};
}

}  // namespace

DISTRUN_TEST(Autograd, gradients_of_ranks_are_their_own) {
  for (const Device device : devices_of(rank)) {
    const double number = rank.rank() + 1;
    const Tensor a = leaf(device, number), b = leaf(device, 2);
    distrun::backward(distrun::sum(a * a * b));
    DISTRUN_EXPECT(is_full_of(distrun::grad(a), 4 * number));
    DISTRUN_EXPECT(is_full_of(distrun::grad(b), number * number));
    rank.barrier("device " + distrun::to_string(device));
  }
}

DISTRUN_TEST(Autograd, in_place_changes_are_seen) {
  for (const Device device : devices_of(rank)) {
    const Tensor a = leaf(device);
    const Tensor b = a * 2;
    distrun::mul_(distrun::select(b, 0, 0), 3);
    distrun::backward(distrun::sum(b));
    DISTRUN_EXPECT(distrun::sum(distrun::grad(a)).item_as<float>() == 30);
    const Tensor kept = a * a * b;
    distrun::add_(b, 1);
    DISTRUN_EXPECT(error_of(distrun::sum(kept)).find("modified by an inplace operation") != std::string::npos);
  }
}

DISTRUN_TEST(Autograd, passes_go_on_after_errors) {
  for (const Device device : devices_of(rank)) {
    const Tensor a = leaf(device);
    fails = true;
    for (int i = 0; i < 50; ++i) {
      DISTRUN_EXPECT(error_of(distrun::sum(distrun::apply<MayFail>(a))) == "a formula that fails");
    }
    fails = false;
    distrun::backward(distrun::sum(distrun::apply<MayFail>(a)));
    DISTRUN_EXPECT(is_full_of(distrun::grad(a), 1));
  }
}

DISTRUN_TEST(Autograd, threads_of_a_rank_share_a_leaf) {
  constexpr int kThreads = 8, kPasses = 50;
  for (const Device device : devices_of(rank)) {
    const Tensor shared = leaf(device);
    distrun::cpu(shared);  // what made it is done, for all threads
    {
      std::vector<distrun::base::Thread> threads;
      for (int i = 0; i < kThreads; ++i) {
        threads.emplace_back("pass", [&shared, device] {
          for (int pass = 0; pass < kPasses; ++pass) distrun::backward(distrun::sum(shared * leaf(device, 2)));
        });
      }
    }
    DISTRUN_EXPECT(is_full_of(distrun::grad(shared), 2.0 * kThreads * kPasses));
  }
}

DISTRUN_TEST(Autograd, operators_are_called_by_name) {
  for (const Device device : devices_of(rank)) {
    const Tensor a = leaf(device);
    const std::vector<distrun::autograd::Value> arguments{a, std::int64_t{3}};
    distrun::backward(distrun::sum(std::get<Tensor>(distrun::autograd::call_operator("mul", arguments))));
    DISTRUN_EXPECT(is_full_of(distrun::grad(a), 3));
  }
}

DISTRUN_TEST(Autograd, networks_of_ranks_with_one_seed_learn_the_same) {
  float total = 0;
  for (const Device device : devices_of(rank)) {
    distrun::manual_seed(7);
    distrun::nn::Linear layer(2, 1);
    layer.to(device);
    distrun::nn::SGD optimiser(layer.parameters(), {.learning_rate = 0.1});
    const Tensor x = distrun::to(distrun::rand({16, 2}), device);
    const Tensor y = distrun::sum(x, {1}, true);
    float loss = 0;
    for (int step = 0; step < 100; ++step) {
      optimiser.zero_grad();
      const Tensor error = distrun::mse_loss(layer(x), y);
      distrun::backward(error);
      optimiser.step();
      loss = error.item_as<float>();
    }
    DISTRUN_EXPECT(loss < 0.05f);
    total += loss;
  }
  if (rank.rank() > 0) {
    rank.send(0, "loss", std::to_string(total));
  } else {
    for (int other = 1; other < rank.world_size(); ++other) {
      DISTRUN_EXPECT(rank.receive(other, "loss") == std::to_string(total));
    }
  }
}
