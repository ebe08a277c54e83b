// Properties of every optimizer.
#include <catch2/catch.hpp>

#include <functional>
#include <mutex>

#include <distrun/common/base/thread.hpp>
#include <distrun/runtime/autograd/backward.hpp>
#include <distrun/runtime/autograd/operators/all.hpp>
#include <distrun/runtime/device/stream.hpp>
#include <distrun/runtime/nn/adagrad.hpp>
#include <distrun/runtime/nn/adam.hpp>
#include <distrun/runtime/nn/layers.hpp>
#include <distrun/runtime/nn/sgd.hpp>

#include "optimizer_cases.hpp"
#include "support/error_of.hpp"
#include "support/order_reports.hpp"

namespace distrun {
namespace {

using testing::gradient_of_step;
using testing::OrderReports;
using testing::start_of_optimizer;

using Maker = std::function<std::unique_ptr<nn::Optimizer>(TensorList)>;

// All optimizers, with all their optional state.
const std::vector<std::pair<const char*, Maker>> kOptimizers{
    {"SGD",
     [](TensorList parameters) {
       return std::make_unique<nn::SGD>(std::move(parameters),
                                        nn::SGDOptions{.learning_rate = 0.1, .momentum = 0.9, .nesterov = true});
     }},
    {"Adam",
     [](TensorList parameters) {
       return std::make_unique<nn::Adam>(std::move(parameters), nn::AdamOptions{.learning_rate = 0.1, .amsgrad = true});
     }},
    {"Adagrad",
     [](TensorList parameters) {
       return std::make_unique<nn::Adagrad>(std::move(parameters),
                                            nn::AdagradOptions{.learning_rate = 0.1, .lr_decay = 0.5});
     }},
};

}  // namespace

TEST_CASE("an undefined gradient does not change the parameter and its state") {
  for (const auto& [name, make] : kOptimizers) {
    INFO(name);
    const Tensor all = start_of_optimizer(), some = start_of_optimizer(), alone = start_of_optimizer();
    const auto both = make({all, some}), one = make({alone});
    both->step({gradient_of_step(0), gradient_of_step(0)});
    one->step({gradient_of_step(0)});
    both->step({gradient_of_step(1), {}});
    CHECK(tensor::equal(some, alone));
    CHECK_FALSE(tensor::equal(all, some));
    both->step({gradient_of_step(2), gradient_of_step(2)});
    one->step({gradient_of_step(2)});
    CHECK(tensor::equal(some, alone));
  }
}

TEST_CASE("a step with given gradients ignores grad(), and takes the same step as one without") {
  for (const auto& [name, make] : kOptimizers) {
    INFO(name);
    const Tensor given = start_of_optimizer(), own = start_of_optimizer();
    const auto by_given = make({given}), by_own = make({own});
    set_grad(given, tensor::full({3}, 1000, given.options()));
    for (int step = 0; step < 3; ++step) {
      by_given->step({gradient_of_step(step)});
      set_grad(own, gradient_of_step(step));
      by_own->step();
    }
    CHECK(tensor::equal(given, own));
    CHECK(grad(given).defined());
    by_given->zero_grad();
    CHECK_FALSE(grad(given).defined());
    by_given->step();
    CHECK(tensor::equal(given, own));
  }
}

TEST_CASE("a step changes the parameter in place, records nothing and does not change the gradient") {
  for (const auto& [name, make] : kOptimizers) {
    INFO(name);
    const Tensor parameter = start_of_optimizer(), gradient = gradient_of_step(0);
    const std::byte* const bytes = parameter.data();
    const std::uint32_t before = parameter.version();
    const auto optimizer = make({parameter});
    for (int step = 0; step < 2; ++step) optimizer->step({gradient});
    CHECK(parameter.data() == bytes);
    CHECK(parameter.version() > before);
    CHECK(is_leaf(parameter));
    CHECK(requires_grad(parameter));
    CHECK(tensor::equal(gradient, gradient_of_step(0)));
  }
}

TEST_CASE("gradients that do not fit are refused before any parameter is changed") {
  for (const auto& [name, make] : kOptimizers) {
    const Tensor first = start_of_optimizer(), second = start_of_optimizer();
    const auto optimizer = make({first, second});
    const auto refused = [&](const TensorList& gradients) {
      const Error error = testing::error_of([&] { optimizer->step(gradients); });
      CHECK(error.kind() == ErrorKind::InvalidArgument);
      CHECK(tensor::equal(first, start_of_optimizer()));
      return error.text();
    };
    const std::string prefix = std::string(name) + ": ";
    CHECK(refused({gradient_of_step(0)}) == prefix + "1 gradients for 2 parameters");
    CHECK(refused({gradient_of_step(0), tensor::ones({1}, {tensor::DType::F64})}) ==
          prefix + "gradient 1 (float64 [1]) does not fit its parameter (float64 [3])");
    CHECK(refused({gradient_of_step(0), tensor::ones({3})}) ==
          prefix + "gradient 1 (float32 [3]) does not fit its parameter (float64 [3])");
    CHECK_THROWS_WITH(make({first, tensor::ones({1})}), prefix + "parameter 1 is not a leaf that requires a gradient");
  }
}

TEST_CASE("a parameter is updated once in a step: a duplicate is refused") {
  for (const auto& [name, make] : kOptimizers) {
    const Tensor first = start_of_optimizer(), second = start_of_optimizer();
    const Error error = testing::error_of([&make = make, &first, &second] { make({first, second, first}); });
    CHECK(error.kind() == ErrorKind::InvalidArgument);
    CHECK(error.text() == std::string(name) + ": parameter 2 is parameter 0 again; pass each parameter once");
  }
}

TEST_CASE("parameters that no longer belong to their module are refused instead of updated in vain") {
  testing::use_gpus();
  nn::Linear layer(2, 1);
  nn::SGD before(layer.parameters(), {.learning_rate = 1});
  layer.to(device::kCpu);
  CHECK_NOTHROW(before.step());  // they existed already
  layer.to(device::cuda(0));
  CHECK_THROWS_WITH(before.step(), Catch::Contains("parameter 0 (") &&
                                       Catch::Contains("no longer belongs to its module") &&
                                       Catch::Contains("create the optimizer after Module::to()"));
  nn::SGD after(layer.parameters(), {.learning_rate = 1});
  backward(sum(layer(ones({1, 2}, {.device = device::cuda(0)}))));
  CHECK_NOTHROW(after.step());
}

TEST_CASE("steps of several threads come one after the other") {
  constexpr int kThreads = 4, kSteps = 50;
  const Dims sizes{20'000};
  for (const auto& [name, make] : kOptimizers) {
    INFO(name);
    const Tensor shared = set_requires_grad(tensor::ones(sizes)), alone = set_requires_grad(tensor::ones(sizes));
    const Tensor gradient = tensor::full(sizes, 0.5);
    const auto by_many = make({shared}), by_one = make({alone});
    {
      std::vector<base::Thread> threads;
      for (int i = 0; i < kThreads; ++i) {
        threads.emplace_back("stepper", [&] {
          for (int step = 0; step < kSteps; ++step) by_many->step({gradient});
        });
      }
      for (base::Thread& thread : threads) thread.join();
    }
    for (int step = 0; step < kThreads * kSteps; ++step) by_one->step({gradient});
    CHECK(tensor::equal(shared, alone));
  }
}

TEST_CASE("steps on a GPU give the bits of the CPU, on any stream, and state outlives the work on it") {
  const OrderReports reports;
  const Device gpu = device::cuda(0);
  const TensorOptions there_options{tensor::DType::F64, gpu};
  const Stream first = device::stream_from_pool(gpu), second = device::stream_from_pool(gpu);
  for (const auto& [name, make] : kOptimizers) {
    INFO(name);
    const Tensor here = start_of_optimizer();
    const device::StreamGuard on_first(first);
    const Tensor there = start_of_optimizer(there_options);
    auto by_cpu = make({here}), by_gpu = make({there});
    by_cpu->step({gradient_of_step(0)});
    by_gpu->step({gradient_of_step(0, there_options)});
    first.synchronize();
    {
      const device::StreamGuard on_second(second);
      by_cpu->step({gradient_of_step(1)});
      by_gpu->step({gradient_of_step(1, there_options)});
    }
    by_gpu.reset();
    // Memory of the first stream that would be free but for the second stream's step.
    TensorList others;
    for (int i = 0; i < 32; ++i) others.push_back(tensor::zeros({3}, there_options));
    second.synchronize();
    CHECK(tensor::equal(tensor::to(detach(there), device::kCpu), detach(here)));
    CHECK(reports.text() == "");
  }
}

TEST_CASE("sparse gradients on a GPU update their rows") {
  const OrderReports reports;
  const Device gpu = device::cuda(0);
  const auto check = [&](auto make) {
    const Tensor here = set_requires_grad(tensor::ones({4, 2}));
    const Tensor there = set_requires_grad(tensor::ones({4, 2}, {tensor::DType::F32, gpu}));
    for (int step = 0; step < 2; ++step) {
      const Tensor gradient = testing::sparse_gradient(step);
      const Tensor moved = tensor::sparse_coo(tensor::to(tensor::sparse(gradient).indices, gpu),
                                              tensor::to(tensor::sparse(gradient).values, gpu), gradient.sizes());
      make(here)->step({gradient});
      make(there)->step({moved});
    }
    CHECK(tensor::equal(tensor::to(detach(there), device::kCpu), detach(here)));
    CHECK_FALSE(tensor::equal(here, tensor::ones({4, 2})));
    CHECK(reports.text() == "");
  };
  check([](const Tensor& parameter) { return std::make_unique<nn::SGD>(TensorList{parameter}, nn::SGDOptions{}); });
  check([](const Tensor& parameter) { return std::make_unique<nn::Adagrad>(TensorList{parameter}); });
}

}  // namespace distrun
