// Gradients in ranks: graphs, passes and their errors, on the CPU and, if the run has one, on a GPU.
#include <string>
#include <vector>

#include <distrun/common/base/thread.hpp>
#include <distrun/runtime/autograd/backward.hpp>
#include <distrun/runtime/autograd/function.hpp>
#include <distrun/runtime/autograd/gradient.hpp>
#include <distrun/runtime/autograd/operators/all.hpp>
#include <distrun/runtime/autograd/operators/operator_table.hpp>
#include <distrun/runtime/nn/sgd.hpp>
#include <distrun/test.hpp>

namespace {

using distrun::Device;
using distrun::Tensor;
using distrun::TensorList;

// Returns the devices on which a rank runs each check.
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

struct MayFail {
  static Tensor forward(distrun::FunctionContext& context, const Tensor& x, bool fails) {
    context.data["fails"] = fails;
    return x * 1;
  }
  static TensorList backward(distrun::FunctionContext& context, TensorList gradients) {
    if (std::get<bool>(context.data["fails"])) throw distrun::Error(distrun::ErrorKind::Failed, "a formula that fails");
    return gradients;
  }
};

// Returns the error of a pass; empty if there is none.
std::string error_of(const Tensor& root) {
  try {
    distrun::backward(root);
  } catch (const distrun::Error& error) {
    return error.text();
  }
  return {};
}

// Returns the loss after some training steps of a layer; the seed determines weights and points.
float learned(Device device, std::uint64_t seed) {
  distrun::tensor::Generator generator(seed);
  const auto random = [&](const distrun::Dims& sizes) {
    return distrun::to(distrun::rand(sizes, {}, generator), device);
  };
  const Tensor weight = distrun::set_requires_grad(random({1, 2})), bias = distrun::set_requires_grad(random({1}));
  distrun::nn::SGD optimiser({weight, bias}, {.learning_rate = 0.1});
  const Tensor x = random({16, 2});
  const Tensor y = distrun::sum(x, {1}, true);
  float loss = 0;
  for (int step = 0; step < 100; ++step) {
    optimiser.zero_grad();
    const Tensor error = distrun::mse_loss(distrun::linear(x, weight, bias), y);
    distrun::backward(error);
    optimiser.step();
    loss = error.item_as<float>();
  }
  return loss;
}

}  // namespace

DISTRUN_TEST(Autograd, gradients_of_ranks_are_their_own) {
  for (const Device device : devices_of(rank)) {
    const double number = rank.rank() + 1;
    const Tensor a = leaf(device, number), b = leaf(device, 2);
    distrun::backward(distrun::sum(a * a * b));
    DISTRUN_EXPECT(is_full_of(distrun::grad(a), 4 * number));
    DISTRUN_EXPECT(is_full_of(distrun::grad(b), number * number));
    rank.barrier(device.is_cpu() ? "on the cpu" : "on a gpu");  // whichever GPU a rank has
  }
}

DISTRUN_TEST(Autograd, in_place_changes_are_seen) {
  for (const Device device : devices_of(rank)) {
    const Tensor a = leaf(device);
    const Tensor b = a * 2;
    distrun::mul_(distrun::select(b, 0, 0), 3);
    distrun::backward(distrun::sum(b));
    DISTRUN_EXPECT(distrun::sum(distrun::grad(a)).item_as<double>() == 30);
    const Tensor kept = a * a * b;
    distrun::add_(b, 1);
    DISTRUN_EXPECT(error_of(distrun::sum(kept)).find("modified by an inplace operation") != std::string::npos);
  }
}

DISTRUN_TEST(Autograd, passes_go_on_after_errors) {
  for (const Device device : devices_of(rank)) {
    const Tensor a = leaf(device);
    for (int i = 0; i < 50; ++i) {
      DISTRUN_EXPECT(error_of(distrun::sum(distrun::apply<MayFail>(a, true))) == "a formula that fails");
    }
    distrun::backward(distrun::sum(distrun::apply<MayFail>(a, false)));
    DISTRUN_EXPECT(is_full_of(distrun::grad(a), 1));
  }
}

DISTRUN_TEST(Autograd, threads_of_a_rank_share_a_leaf) {
  constexpr int kThreads = 8, kPasses = 50;
  for (const Device device : devices_of(rank)) {
    const Tensor shared = leaf(device);
    distrun::cpu(shared);  // all threads may then use it: the work that produced it is done
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

DISTRUN_TEST(Autograd, ranks_with_one_seed_learn_the_same) {
  std::string losses;
  for (const Device device : devices_of(rank)) {
    const float loss = learned(device, 7);
    DISTRUN_EXPECT(loss < 0.05f);
    losses += std::to_string(loss) + " ";
  }
  if (rank.rank() > 0) return rank.send(0, "losses", losses);
  for (int other = 1; other < rank.world_size(); ++other) DISTRUN_EXPECT(rank.receive(other, "losses") == losses);
}
