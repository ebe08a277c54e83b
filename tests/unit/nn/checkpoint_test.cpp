// Training that is interrupted and continues from files.
#include <catch2/catch.hpp>

#include <distrun/runtime/autograd/backward.hpp>
#include <distrun/runtime/autograd/gradient.hpp>
#include <distrun/runtime/autograd/operators/all.hpp>
#include <distrun/runtime/nn/adam.hpp>
#include <distrun/runtime/nn/batch_norm.hpp>
#include <distrun/runtime/nn/checkpoint.hpp>
#include <distrun/runtime/nn/layers.hpp>
#include <distrun/runtime/tensor/io/safetensors.hpp>

#include "support/error_of.hpp"
#include "support/scratch.hpp"

namespace distrun {
namespace {

nn::Sequential seeded_net() {
  manual_seed(3);
  return nn::Sequential({std::make_shared<nn::Linear>(2, 8), std::make_shared<nn::BatchNorm>(8),
                         std::make_shared<nn::ReLU>(), std::make_shared<nn::Linear>(8, 1)});
}

// The same for all, up to the interruption.
struct Training {
  nn::Sequential net = seeded_net();
  nn::Adam optimizer{net.parameters(), {.learning_rate = 0.02, .amsgrad = true}};
  Tensor x = randn({32, 2});
  Tensor y = sum(x * x, {1}, true);

  void train_for(int steps) {
    for (int step = 0; step < steps; ++step) {
      optimizer.zero_grad();
      backward(mse_loss(net(x), y));
      optimizer.step();
    }
  }
};

std::vector<float> all_numbers(const nn::Module& module) {
  std::vector<float> all;
  for (const auto& [name, each] : module.state_dict()) {
    for (const float number : tensor::to_vector<float>(to(each, DType::F32))) all.push_back(number);
  }
  return all;
}

}  // namespace

TEST_CASE("saved training continues in another process's objects as if it had never been interrupted") {
  const testing::Scratch scratch;
  const std::string model = scratch.path() + "/model.safetensors", state = scratch.path() + "/adam.safetensors";
  Training never_stopped, goes_on;
  never_stopped.train_for(12);
  goes_on.train_for(2);  // to be overwritten
  {
    Training first;
    first.train_for(5);
    nn::save(first.net, model, {{"steps", "5"}});
    nn::save(first.optimizer, state);
  }
  nn::load(goes_on.net, model);
  nn::load(goes_on.optimizer, state);
  goes_on.train_for(7);
  CHECK(all_numbers(goes_on.net) == all_numbers(never_stopped.net));
  CHECK(tensor::load_safetensors(model).metadata == tensor::Metadata{{"steps", "5"}});
}

TEST_CASE("a file that does not fit is named with all mismatches") {
  const testing::Scratch scratch;
  const std::string path = scratch.path() + "/model.safetensors";
  nn::save(nn::Linear(3, 2), path);
  nn::Linear other(3, 2, false);
  const std::vector<float> before = all_numbers(other);
  const Error error = testing::error_of([&] { nn::load(other, path); });
  CHECK(error.kind() == ErrorKind::InvalidArgument);
  CHECK(std::string(error.what()) == "load " + path +
                                         ": Error(s) in loading state_dict for the module:\n"
                                         "\tUnexpected key(s) in state_dict: \"bias\".");
  CHECK(all_numbers(other) == before);
  CHECK(nn::load(other, path, false).unexpected == std::vector<std::string>{"bias"});
  CHECK(all_numbers(other) != before);
  Training training;
  CHECK_THROWS_WITH(nn::load(training.optimizer, path),
                    Catch::Contains("load " + path) &&
                        Catch::Contains("Missing key(s) in state_dict: \"learning_rate\"") &&
                        Catch::Contains("Unexpected key(s) in state_dict: \"weight\", \"bias\""));
}

}  // namespace distrun
