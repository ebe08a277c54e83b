// A module's learned state, saved and loaded.
#include <catch2/catch.hpp>

#include <distrun/runtime/autograd/backward.hpp>
#include <distrun/runtime/autograd/gradient.hpp>
#include <distrun/runtime/autograd/operators/all.hpp>
#include <distrun/runtime/nn/batch_norm.hpp>
#include <distrun/runtime/nn/layers.hpp>
#include <distrun/runtime/nn/sgd.hpp>
#include <distrun/runtime/tensor/ops.hpp>

#include "support/error_of.hpp"
#include "support/gpus.hpp"

namespace distrun {
namespace {

// Two linear layers with a normalisation between them.
std::shared_ptr<nn::Sequential> small_net(std::int64_t hidden = 4) {
  return std::make_shared<nn::Sequential>(std::vector<std::shared_ptr<nn::Module>>{
      std::make_shared<nn::Linear>(3, hidden), std::make_shared<nn::BatchNorm>(hidden),
      std::make_shared<nn::Linear>(hidden, 2)});
}

std::vector<std::string> names_in_state(const NamedTensors& state) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : state) names.push_back(name);
  return names;
}

NamedTensors without(const NamedTensors& state, const std::string& name) {
  NamedTensors rest;
  for (const auto& each : state) {
    if (each.first != name) rest.push_back(each);
  }
  return rest;
}

// Returns the state with separate elements.
NamedTensors kept(const nn::Module& module) {
  NamedTensors state = module.state_dict();
  for (auto& [name, each] : state) each = tensor::clone(each);
  return state;
}

bool is_as(const nn::Module& module, const NamedTensors& state) {
  const NamedTensors now = module.state_dict();
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (now[i].first != state[i].first || !tensor::equal(now[i].second, state[i].second)) return false;
  }
  return now.size() == state.size();
}

}  // namespace

TEST_CASE("the state of a module is its parameters and buffers by name, module by module") {
  const auto net = small_net();
  const NamedTensors state = net->state_dict();
  CHECK(names_in_state(state) == std::vector<std::string>{"0.weight", "0.bias", "1.weight", "1.bias", "1.running_mean",
                                                          "1.running_var", "1.num_batches_tracked", "2.weight",
                                                          "2.bias"});
  for (const auto& [name, each] : state) {
    INFO(name);
    CHECK_FALSE(requires_grad(each));
  }
  tensor::fill_(*tensor::find_named(state, "0.bias"), 7);
  CHECK(tensor::equal(net->parameters()[1], tensor::full({4}, 7)));  // they share their elements
}

TEST_CASE("a module with a loaded state computes the same as the other, and keeps its tensors") {
  const auto from = small_net(), into = small_net();
  (*from)(randn({16, 3}));  // updates the running moments
  const Tensor weight = into->parameters()[0];
  const std::uint32_t version = weight.version();
  const nn::StateKeys keys = into->load_state_dict(from->state_dict());
  CHECK(keys.missing.empty());
  CHECK(keys.unexpected.empty());
  CHECK(weight.is_same(into->parameters()[0]));
  CHECK(weight.version() > version);
  CHECK(requires_grad(weight));
  CHECK(is_leaf(weight));
  from->train(false);
  into->train(false);
  const Tensor x = randn({5, 3});
  CHECK(equal((*from)(x), (*into)(x)));
  tensor::fill_(from->parameters()[0], 0);
  CHECK_FALSE(equal((*from)(x), (*into)(x)));  // copies, not the same elements
}

TEST_CASE("an optimizer continues with the parameters into which a state was loaded") {
  nn::Linear layer(2, 1, false);
  nn::SGD optimizer(layer.parameters(), {.learning_rate = 1});
  layer.load_state_dict({{"weight", ones({1, 2})}});
  backward(sum(layer(ones({1, 2}))));
  optimizer.step();
  CHECK(equal(layer.weight(), zeros({1, 2})));
}

TEST_CASE("all mismatches of a state are reported at once, and nothing is changed") {
  const auto net = small_net();
  const NamedTensors before = kept(*net);
  NamedTensors state = without(without(kept(*small_net(5)), "0.bias"), "2.bias");
  state.emplace_back("3.weight", ones({1}));
  state.emplace_back("other", ones({1}));
  const Error error = testing::error_of([&] { net->load_state_dict(state); });
  CHECK(error.kind() == ErrorKind::InvalidArgument);
  CHECK(
      error.text() ==
      "Error(s) in loading state_dict for the module:\n"
      "\tMissing key(s) in state_dict: \"0.bias\", \"2.bias\".\n"
      "\tUnexpected key(s) in state_dict: \"3.weight\", \"other\".\n"
      "\tsize mismatch for 0.weight: copying a param with shape [5, 3] from checkpoint, the shape in current model is "
      "[4, 3].\n"
      "\tsize mismatch for 1.weight: copying a param with shape [5] from checkpoint, the shape in current model is "
      "[4].\n"
      "\tsize mismatch for 1.bias: copying a param with shape [5] from checkpoint, the shape in current model is "
      "[4].\n"
      "\tsize mismatch for 1.running_mean: copying a param with shape [5] from checkpoint, the shape in current model "
      "is [4].\n"
      "\tsize mismatch for 1.running_var: copying a param with shape [5] from checkpoint, the shape in current model "
      "is [4].\n"
      "\tsize mismatch for 2.weight: copying a param with shape [2, 5] from checkpoint, the shape in current model is "
      "[2, 4].");
  CHECK(is_as(*net, before));
}

TEST_CASE("a state that is not strict may have missing or extra entries, but no mismatched ones") {
  const auto net = small_net();
  const NamedTensors before = kept(*net);
  const nn::StateKeys keys = net->load_state_dict({{"0.bias", zeros({4})}, {"more", ones({1})}}, false);
  CHECK(keys.missing == std::vector<std::string>{"0.weight", "1.weight", "1.bias", "1.running_mean", "1.running_var",
                                                 "1.num_batches_tracked", "2.weight", "2.bias"});
  CHECK(keys.unexpected == std::vector<std::string>{"more"});
  CHECK(equal(net->parameters()[1], zeros({4})));
  CHECK(equal(net->parameters()[0], before[0].second));
  const NamedTensors now = kept(*net);
  for (const Tensor& odd : {ones({5}), ones({1, 4}), Tensor(), tensor::empty_sparse({4}, {}, 1)}) {
    CHECK_THROWS_AS(net->load_state_dict({{"0.bias", odd}, {"2.bias", ones({2})}}, false), Error);
  }
  CHECK(is_as(*net, now));
  CHECK_THROWS_WITH(net->load_state_dict({{"0.bias", Tensor()}}, false),
                    Catch::EndsWith("\n\t0.bias: the tensor in the state is undefined."));
  CHECK_THROWS_WITH(net->load_state_dict({{"0.bias", tensor::empty_sparse({4}, {}, 1)}}, false),
                    Catch::EndsWith("\n\t0.bias: the tensor in the state is sparse; load its to_dense()."));
  CHECK_THROWS_WITH(net->load_state_dict({{"0.bias", ones({4})}, {"0.bias", ones({4})}}, false),
                    Catch::EndsWith("\n\t\"0.bias\" stands twice."));
}

TEST_CASE("elements of a state are converted to the dtype of the module") {
  nn::Linear layer(2, 1, false);
  layer.load_state_dict({{"weight", tensor::from_values<double>({0.5, 3}, {1, 2})}});
  CHECK(layer.weight().dtype() == DType::F32);
  CHECK(equal(layer.weight(), from_values<float>({0.5F, 3}, {1, 2})));
}

TEST_CASE("overwriting a tensor that a backward pass still needs is noticed") {
  nn::Linear layer(2, 2, false);
  const Tensor x = set_requires_grad(ones({1, 2}));
  const Tensor loss = sum(layer(x));
  layer.load_state_dict({{"weight", ones({2, 2})}});
  CHECK_THROWS_AS(backward(loss), Error);
}

TEST_CASE("a layer that is twice in a network has its parameters once, and both names in its state") {
  const auto layer = std::make_shared<nn::Linear>(1, 1, false);
  nn::Sequential net({layer, layer});
  REQUIRE(net.named_parameters().size() == 1U);
  CHECK(net.named_parameters()[0].first == "0.weight");
  CHECK(net.parameters().size() == 1U);
  CHECK(names_in_state(net.state_dict()) == std::vector<std::string>{"0.weight", "1.weight"});
  tensor::fill_(detach(layer->weight()), 3);
  nn::SGD optimizer(net.parameters(), {.learning_rate = 0.5});
  backward(sum(net(ones({1, 1}))));  // weight^2
  optimizer.step();
  CHECK(layer->weight().item<float>() == 0);
}

TEST_CASE("tensors that a module has under two names stay one tensor on another device") {
  struct Tied final : nn::Module {
    Tied() {
      const Tensor weight = ones({2}), counts = zeros({3});
      add_parameter("in", weight);
      add_parameter("out", weight);
      add_buffer("counts", counts);
      add_buffer("same_counts", counts);
      add_part("part", std::make_shared<Part>(weight));
    }
    struct Part final : nn::Module {
      explicit Part(const Tensor& weight) { add_parameter("weight", weight); }
    };
    Tensor in() const { return parameter(0); }
    Tensor out() const { return parameter(1); }
  };
  testing::use_gpus();
  Tied module;
  CHECK(module.named_buffers().size() == 1U);
  backward(sum(module.in() * module.out()));
  module.to(device::cuda(0));
  CHECK(module.in().device() == device::cuda(0));
  CHECK(module.in().is_same(module.out()));
  CHECK(to_vector<float>(grad(module.in())) == std::vector<float>{2, 2});
  CHECK(module.parameters().size() == 1U);
  CHECK(module.buffers().size() == 1U);
  CHECK(names_in_state(module.state_dict()) ==
        std::vector<std::string>{"in", "out", "counts", "same_counts", "part.weight"});
}

TEST_CASE("parameters, buffers and parts need distinct names") {
  struct Named final : nn::Module {
    void add(const std::string& name) { add_parameter(name, ones({2})); }
    void add_other(const std::string& name) { add_buffer(name, ones({2})); }
    void add_module(const std::string& name) { add_part(name, std::make_shared<Named>()); }
  };
  Named module;
  module.add("weight");
  CHECK_THROWS_WITH(module.add("weight"),
                    "the name \"weight\" of a module's parameter, buffer or part is already used");
  CHECK_THROWS_WITH(module.add_other("weight"), Catch::Contains("is already used"));
  CHECK_THROWS_WITH(module.add_module("weight"), Catch::Contains("is already used"));
  CHECK_THROWS_WITH(module.add("a.b"), Catch::Contains("contains a dot"));
  CHECK_THROWS_WITH(module.add_module(""), Catch::Contains("is empty"));
  CHECK(module.parameters().size() == 1U);
}

TEST_CASE("a state is copied from one device to another") {
  testing::use_gpus();
  const auto here = small_net(), there = small_net();
  there->to(device::cuda(0));
  there->load_state_dict(here->state_dict());
  CHECK(there->parameters()[0].device() == device::cuda(0));
  CHECK(equal(cpu(there->parameters()[0]), here->parameters()[0]));
  const auto back = small_net();
  back->load_state_dict(there->state_dict());
  CHECK(is_as(*back, here->state_dict()));
}

}  // namespace distrun
