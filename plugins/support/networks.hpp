#pragma once
// Networks that ported tests of data-parallel training train. Their weights come from the default generator: for equal
// weights, ranks set the same seed, or take those of the group's first rank, as DataParallel does.
#include <map>
#include <memory>
#include <utility>
#include <variant>

#include <distrun/runtime/collectives/process_group.hpp>
#include <distrun/runtime/nn/batch_norm.hpp>
#include <distrun/runtime/nn/layers.hpp>
#include <distrun/runtime/nn/sync_batch_norm.hpp>

namespace distrun::suites {

using TensorPair = std::pair<Tensor, Tensor>;

// 10 to 10 to 1, and a buffer of two random numbers, to which each call adds 1.
class NetWithBuffers final : public nn::Module {
 public:
  NetWithBuffers();
  Tensor forward(const Tensor& input) override;

 private:
  const std::shared_ptr<nn::Linear> a_, b_;
};

// 10 to 50, with a bias that needs no gradient.
class FC2 final : public nn::Module {
 public:
  FC2();
  Tensor forward(const Tensor& input) override;

 private:
  const std::shared_ptr<nn::Linear> fc_;
};

// 2 to 10 to 50 to 4, softmax over dimension 1; and an unused parameter of integers.
class Net final : public nn::Module {
 public:
  Net();
  Tensor forward(const Tensor& input) override;

 private:
  const std::shared_ptr<nn::Linear> fc1_;
  const std::shared_ptr<FC2> fc2_;
  const std::shared_ptr<nn::Linear> fc3_;
};

// 1000 to 2000 to 500: gradients of more than one bucket.
class LargeNet final : public nn::Module {
 public:
  LargeNet();
  Tensor forward(const Tensor& input) override;

 private:
  const std::shared_ptr<nn::Linear> fc1_, fc2_;
};

// p + x, where p is 2 x 2 ones.
class Task final : public nn::Module {
 public:
  Task();
  Tensor forward(const Tensor& input) override;
};

// 2 to 40, normalised as [-1, 4, 10] over 4 channels, to 4, softmax over dimension 1.
class BatchNormNet final : public nn::Module {
 public:
  explicit BatchNormNet(bool affine = true);
  Tensor forward(const Tensor& input) override;

 private:
  const std::shared_ptr<nn::Linear> fc1_;
  const std::shared_ptr<nn::BatchNorm> bn_;
  const std::shared_ptr<nn::Linear> fc2_;
};

// Two layers of the same input, 10 to 10, and an unused one of 5 to 5.
class UnusedParamTwoLinLayerNet final : public nn::Module {
 public:
  UnusedParamTwoLinLayerNet();
  TensorPair operator()(const Tensor& input);

 private:
  const std::shared_ptr<nn::Linear> a_, b_;
};

// UnusedParamTwoLinLayerNet with named results: "predictions" is its pair, "loss" the sum of both.
class DictOutputModule final : public nn::Module {
 public:
  using Outputs = std::map<std::string, std::variant<TensorPair, Tensor>>;

  explicit DictOutputModule(std::shared_ptr<UnusedParamTwoLinLayerNet> module);
  Outputs operator()(const Tensor& input);

 private:
  const std::shared_ptr<UnusedParamTwoLinLayerNet> module_;
};

// 10 to 10 and 10 to 1, of the same input.
class TwoLinLayerNet final : public nn::Module {
 public:
  TwoLinLayerNet();
  TensorPair operator()(const Tensor& input);

 private:
  const std::shared_ptr<nn::Linear> a_, b_;
};

// A table of 10 rows and a layer to 1. Ranks have networks of different sizes, 500 wide on rank 0 and 50 on others; or,
// with `diff_num_params`, 500 wide on all, and one layer more.
class EmbeddingNetDifferentParams final : public nn::Module {
 public:
  EmbeddingNetDifferentParams(int rank, bool diff_num_params);
  Tensor forward(const Tensor& input) override;

 private:
  const std::shared_ptr<nn::Embedding> embedding_;
  const std::shared_ptr<nn::Linear> lin_;
};

// Two layers of 10 to 10; the second one is used only if all inputs are 1.
class ControlFlowToyModel final : public nn::Module {
 public:
  ControlFlowToyModel();
  Tensor forward(const Tensor& input) override;

 private:
  const std::shared_ptr<nn::Linear> lin1_, lin2_;
};

// The networks that suites start with: a new one per call, so that tests do not affect each other.
std::shared_ptr<Net> ddp_net();
std::shared_ptr<BatchNormNet> bn_net();
std::shared_ptr<BatchNormNet> bn_net_no_affine();
// Only batch normalisation of two features, over all ranks of a group; momentum 0.99.
std::shared_ptr<nn::SyncBatchNorm> only_sbn_net(std::shared_ptr<ProcessGroup> group);

// A test of training in which ranks have different amounts of data.
struct DDPUnevenTestInput {
  std::string name;
  std::shared_ptr<nn::Module> model;
  std::variant<Tensor, TensorPair> inp;
  int sync_interval = 1;
  bool throw_on_early_termination = false;
  std::function<Tensor(const Tensor&)> hook{};  // on gradients; empty: plain averaging
  std::shared_ptr<void> state{};                // the hook's state
};

}  // namespace distrun::suites
