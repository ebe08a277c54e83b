// Optimizers that are stopped and continue elsewhere.
#include <catch2/catch.hpp>

#include <functional>

#include <distrun/runtime/nn/adagrad.hpp>
#include <distrun/runtime/nn/adam.hpp>
#include <distrun/runtime/nn/sgd.hpp>

#include "optimizer_cases.hpp"
#include "support/error_of.hpp"
#include "support/gpus.hpp"

namespace distrun {
namespace {

using testing::error_of;
using testing::gradient_of_step;
using testing::start_of_optimizer;

struct Kind {
  const char* name;
  std::function<std::unique_ptr<nn::Optimizer>(TensorList)> make;
  std::vector<std::string> names;  // of its state with one parameter
};

template <class Optimizer, class Options>
Kind kind_of(const char* name, Options options, std::vector<std::string> names) {
  return {name,
          [options](TensorList parameters) { return std::make_unique<Optimizer>(std::move(parameters), options); },
          std::move(names)};
}

std::vector<Kind> kinds() {
  return {
      kind_of<nn::SGD>("SGD", nn::SGDOptions{.learning_rate = 0.1}, {"learning_rate"}),
      kind_of<nn::SGD>("SGD", nn::SGDOptions{.learning_rate = 0.1, .momentum = 0.9, .nesterov = true},
                       {"learning_rate", "0.momentum_buffer"}),
      kind_of<nn::Adam>("Adam", nn::AdamOptions{.learning_rate = 0.1},
                        {"learning_rate", "0.step", "0.exp_avg", "0.exp_avg_sq"}),
      kind_of<nn::Adam>(
          "Adam",
          nn::AdamOptions{.learning_rate = 0.1, .weight_decay = 0.2, .amsgrad = true, .decoupled_weight_decay = true},
          {"learning_rate", "0.step", "0.exp_avg", "0.exp_avg_sq", "0.max_exp_avg_sq"}),
      kind_of<nn::Adagrad>("Adagrad", nn::AdagradOptions{.learning_rate = 0.1, .lr_decay = 0.5},
                           {"learning_rate", "0.step", "0.sum"}),
  };
}

NamedTensors cloned(NamedTensors state) {
  for (auto& [name, each] : state) each = tensor::clone(each);
  return state;
}

void take_steps(nn::Optimizer& optimizer, int from, int until, TensorOptions options = {DType::F64}) {
  for (int step = from; step < until; ++step) {
    const TensorList gradients(optimizer.parameters().size(), gradient_of_step(step, options));
    optimizer.step(gradients);
  }
}

// Returns the error without its first line, which is the same for all.
std::string fault_of(nn::Optimizer& optimizer, const NamedTensors& state) {
  const NamedTensors before = cloned(optimizer.state_dict());
  const Error error = error_of([&] { optimizer.load_state_dict(state); });
  CHECK(error.kind() == ErrorKind::InvalidArgument);
  const NamedTensors after = optimizer.state_dict();
  REQUIRE(after.size() == before.size());
  for (std::size_t i = 0; i < before.size(); ++i) CHECK(tensor::equal(before[i].second, after[i].second));
  return error.text().substr(error.text().find('\n') + 1);
}

NamedTensors with(NamedTensors state, const std::string& name, Tensor value) {
  for (auto& each : state) {
    if (each.first == name) each.second = std::move(value);
  }
  return state;
}

}  // namespace

TEST_CASE("the state of an optimizer has the names of PyTorch, and only the parameters that were updated") {
  for (const auto& [name, make, names] : kinds()) {
    INFO(name);
    const auto optimizer = make({start_of_optimizer(), start_of_optimizer()});
    CHECK(optimizer->state_dict().size() == 1U);
    optimizer->step({gradient_of_step(0), Tensor()});
    std::vector<std::string> found;
    for (const auto& [each, tensor] : optimizer->state_dict()) found.push_back(each);
    CHECK(found == names);
  }
}

TEST_CASE("an optimizer with the state of another takes bitwise the same steps") {
  for (const DType dtype : {DType::F32, DType::F64}) {
    for (const auto& [name, make, names] : kinds()) {
      INFO(name);
      const Tensor one = start_of_optimizer({dtype}), other = start_of_optimizer({dtype});
      const auto never_stopped = make({one}), goes_on = make({other});
      take_steps(*goes_on, 5, 7, {dtype});  // to be overwritten
      take_steps(*never_stopped, 0, 3, {dtype});
      never_stopped->set_learning_rate(0.03);

      tensor::copy_(other, one);
      goes_on->load_state_dict(never_stopped->state_dict());
      CHECK(goes_on->learning_rate() == 0.03);
      take_steps(*never_stopped, 3, 7, {dtype});
      take_steps(*goes_on, 3, 7, {dtype});
      CHECK(tensor::equal(one, other));
    }
  }
}

TEST_CASE("a state from before the first step resets an optimizer") {
  for (const auto& [name, make, names] : kinds()) {
    INFO(name);
    const Tensor one = start_of_optimizer(), other = start_of_optimizer();
    const auto fresh = make({one}), used = make({other});
    take_steps(*used, 0, 4);
    tensor::copy_(other, one);
    used->load_state_dict(fresh->state_dict());
    CHECK(used->state_dict().size() == 1U);
    take_steps(*fresh, 0, 3);
    take_steps(*used, 0, 3);
    CHECK(tensor::equal(one, other));
  }
}

TEST_CASE("states share nothing with the optimizer that has loaded them") {
  const auto make = kinds()[2].make;
  const auto one = make({start_of_optimizer()}), other = make({start_of_optimizer()});
  take_steps(*one, 0, 2);
  other->load_state_dict(one->state_dict());
  const NamedTensors loaded = cloned(other->state_dict());
  take_steps(*one, 2, 4);
  for (std::size_t i = 0; i < loaded.size(); ++i) {
    CHECK(tensor::equal(loaded[i].second, other->state_dict()[i].second));
  }
}

TEST_CASE("a state moves to the device of the parameters, and the steps there are the same") {
  testing::use_gpus();
  const TensorOptions there_options{DType::F64, device::cuda(0)};
  for (const auto& [name, make, names] : kinds()) {
    INFO(name);
    const Tensor here = start_of_optimizer(), there = start_of_optimizer(there_options);
    const auto by_cpu = make({here}), by_gpu = make({there});
    take_steps(*by_cpu, 0, 2);
    tensor::copy_(there, detach(here));
    by_gpu->load_state_dict(by_cpu->state_dict());
    take_steps(*by_cpu, 2, 4);
    take_steps(*by_gpu, 2, 4, there_options);
    CHECK(tensor::equal(tensor::to(detach(there), device::kCpu), here));
  }
}

TEST_CASE("a state that does not fit an optimizer is refused with all mismatches, and nothing is changed") {
  const auto adam = kinds()[2].make({start_of_optimizer()}), sgd = kinds()[1].make({start_of_optimizer()});
  take_steps(*adam, 0, 2);
  take_steps(*sgd, 0, 2);
  const NamedTensors state = cloned(adam->state_dict());
  CHECK(error_of([&] { sgd->load_state_dict(state); }).text() ==
        "Error(s) in loading state_dict for the optimizer SGD:\n"
        "\tUnexpected key(s) in state_dict: \"0.step\", \"0.exp_avg\", \"0.exp_avg_sq\".");
  CHECK(fault_of(*adam, {}) == "\tMissing key(s) in state_dict: \"learning_rate\".");
  CHECK(fault_of(*adam, {state[0], state[2], {"1.exp_avg", tensor::ones({3})}}) ==
        "\tMissing key(s) in state_dict: \"0.step\", \"0.exp_avg_sq\".\n"
        "\tUnexpected key(s) in state_dict: \"1.exp_avg\".");
  CHECK(fault_of(*adam, with(state, "0.exp_avg", tensor::ones({4}))) ==
        "\tsize mismatch for 0.exp_avg: copying a param with shape [4] from checkpoint, the shape in current model is "
        "[3].");
  for (const Tensor& odd : {tensor::ones({2}), tensor::scalar_tensor(-1), tensor::scalar_tensor(1.5), Tensor(),
                            tensor::scalar_tensor(1e300, {DType::F64}), tensor::empty_sparse({1}, {}, 1)}) {
    CHECK(fault_of(*adam, with(state, "0.step", odd)) ==
          "\t0.step: it must be a number without a fraction, at least 0.");
  }
  for (const Tensor& odd : {tensor::ones({2}), tensor::scalar_tensor(-1), tensor::scalar_tensor(std::nan(""))}) {
    CHECK(fault_of(*adam, with(state, "learning_rate", odd)) == "\tlearning_rate: it must be a number, at least 0.");
  }
}

TEST_CASE("an invalid or negative learning rate is refused, and the old one stays") {
  for (const auto& [name, make, names] : kinds()) {
    const auto optimizer = make({start_of_optimizer()});
    CHECK_THROWS_WITH(optimizer->set_learning_rate(-0.5), "Invalid learning rate: -0.5");
    CHECK_THROWS_WITH(optimizer->set_learning_rate(std::nan("")), "Invalid learning rate: nan");
    CHECK(optimizer->learning_rate() == 0.1);
    optimizer->set_learning_rate(0);
    take_steps(*optimizer, 0, 2);
    CHECK(tensor::equal(optimizer->parameters()[0], start_of_optimizer()));
  }
}

}  // namespace distrun
