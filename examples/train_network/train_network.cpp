// A network with two layers learns a curve from generated points, and prints its loss. Shows tensors, modules,
// backward passes and an optimiser, and then the same with the layers on two GPUs. Run it with
//
//   distrun --world-size 1 --show-output train_network.so
//   distrun --world-size 1 --show-output --gpu-driver virtual --gpus 2 train_network.so
#include <cstdio>
#include <memory>

#include <distrun/tensors.hpp>
#include <distrun/test.hpp>

namespace {

using distrun::Tensor;
namespace nn = distrun::nn;

constexpr int kSteps = 400;

// Points of y = 2 sin(3 x) + x, for x from -1 to 1.
struct Points {
  Tensor x = distrun::rand({256, 1}) * 2 - 1;
  Tensor y = 2 * distrun::sin(3 * x) + x;
};

// Calls `forward` on the points, step by step, and lets the optimiser apply the gradients of the loss.
template <class Forward>
float train(const distrun::TensorList& parameters, Forward forward) {
  nn::SGD optimiser(parameters, {.learning_rate = 0.05, .momentum = 0.9});
  const nn::MSELoss loss_of;
  const Points points;
  float last = 0;
  for (int step = 1; step <= kSteps; ++step) {
    optimiser.zero_grad();
    const Tensor loss = loss_of(forward(points.x), points.y);
    distrun::backward(loss);
    optimiser.step();
    last = loss.item_as<float>();
    if (step == 1 || step % 100 == 0) std::printf("step %3d  loss %.4f\n", step, static_cast<double>(last));
  }
  return last;
}

}  // namespace

DISTRUN_TEST(Training, two_layers_learn_a_curve, .world_size = fixed(1)) {
  distrun::manual_seed(1);
  nn::Sequential network(
      {std::make_shared<nn::Linear>(1, 32), std::make_shared<nn::ReLU>(), std::make_shared<nn::Linear>(32, 1)});
  const float loss = train(network.parameters(), [&network](const Tensor& x) { return network(x); });
  DISTRUN_EXPECT(loss < 0.05f);
}

// A layer runs on the device of its weights. Its result is copied to the other device, and in the backward pass the
// gradient is copied back; every copy waits only for what it needs, and no other work waits.
DISTRUN_TEST(Training, two_devices_learn_together, .world_size = fixed(1), .skip = {skip_if_lt_x_gpu(2)}) {
  distrun::manual_seed(1);
  const distrun::Device front = distrun::device::cuda(0), back = distrun::device::cuda(1);
  nn::Linear first(1, 32), second(32, 1);
  first.to(front);
  second.to(back);
  const float loss = train({first.weight(), first.bias(), second.weight(), second.bias()}, [&](const Tensor& x) {
    const Tensor hidden = distrun::relu(first(distrun::to(x, front)));
    return distrun::cpu(second(distrun::to(hidden, back)));
  });
  DISTRUN_EXPECT(loss < 0.05f);
}
