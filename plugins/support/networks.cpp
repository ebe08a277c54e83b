#include "networks.hpp"

#include <distrun/runtime/autograd/gradient.hpp>
#include <distrun/runtime/autograd/operators/all.hpp>

namespace distrun::suites {
namespace {

std::shared_ptr<nn::Linear> layer(std::int64_t inputs, std::int64_t outputs, bool with_bias = false) {
  return std::make_shared<nn::Linear>(inputs, outputs, with_bias);
}

}  // namespace

NetWithBuffers::NetWithBuffers() : a_(layer(10, 10)), b_(layer(10, 1)) {
  add_part("a", a_);
  add_part("b", b_);
  add_buffer("buffer", randn({1, 2}));
}

Tensor NetWithBuffers::forward(const Tensor& input) {
  add_(buffer(0), 1);
  return b_->forward(a_->forward(input));
}

FC2::FC2() : fc_(layer(10, 50, true)) {
  add_part("fc", fc_);
  set_requires_grad(fc_->bias(), false);
}
Tensor FC2::forward(const Tensor& input) { return fc_->forward(input); }

Net::Net() : fc1_(layer(2, 10)), fc2_(std::make_shared<FC2>()), fc3_(layer(50, 4)) {
  add_part("fc1", fc1_);
  add_part("fc2", fc2_);
  add_part("fc3", fc3_);
  add_parameter("no_grad_param", from_values<std::int64_t>({2, 2}), false);
}

Tensor Net::forward(const Tensor& input) {
  return softmax(fc3_->forward(relu(fc2_->forward(relu(fc1_->forward(input))))), 1);
}

LargeNet::LargeNet() : fc1_(layer(1000, 2000)), fc2_(layer(2000, 500)) {
  add_part("fc1", fc1_);
  add_part("fc2", fc2_);
}
Tensor LargeNet::forward(const Tensor& input) { return fc2_->forward(fc1_->forward(input)); }

Task::Task() { add_parameter("p", ones({2, 2})); }
Tensor Task::forward(const Tensor& input) { return parameter(0) + input; }

BatchNormNet::BatchNormNet(bool affine)
    : fc1_(layer(2, 40)),
      bn_(std::make_shared<nn::BatchNorm>(4, nn::BatchNormOptions{.affine = affine})),
      fc2_(layer(40, 4)) {
  add_part("fc1", fc1_);
  add_part("bn", bn_);
  add_part("fc2", fc2_);
}

Tensor BatchNormNet::forward(const Tensor& input) {
  const Tensor normal = bn_->forward(reshape(fc1_->forward(input), {-1, 4, 10}));
  return softmax(fc2_->forward(reshape(normal, {-1, 40})), 1);
}

UnusedParamTwoLinLayerNet::UnusedParamTwoLinLayerNet() : a_(layer(10, 10)), b_(layer(10, 10)) {
  add_part("a", a_);
  add_part("b", b_);
  add_part("c", layer(5, 5));
}
TensorPair UnusedParamTwoLinLayerNet::operator()(const Tensor& input) {
  return {a_->forward(input), b_->forward(input)};
}

DictOutputModule::DictOutputModule(std::shared_ptr<UnusedParamTwoLinLayerNet> module) : module_(std::move(module)) {
  add_part("module", module_);
}

DictOutputModule::Outputs DictOutputModule::operator()(const Tensor& input) {
  TensorPair predictions = (*module_)(input);
  Tensor loss = sum(predictions.first + predictions.second);
  return {{"predictions", std::move(predictions)}, {"loss", std::move(loss)}};
}

TwoLinLayerNet::TwoLinLayerNet() : a_(layer(10, 10)), b_(layer(10, 1)) {
  add_part("a", a_);
  add_part("b", b_);
}
TensorPair TwoLinLayerNet::operator()(const Tensor& input) { return {a_->forward(input), b_->forward(input)}; }

namespace {

std::int64_t width_of(int rank, bool diff_num_params) { return diff_num_params || rank == 0 ? 500 : 50; }

}  // namespace

EmbeddingNetDifferentParams::EmbeddingNetDifferentParams(int rank, bool diff_num_params)
    : embedding_(std::make_shared<nn::Embedding>(10, width_of(rank, diff_num_params))),
      lin_(layer(width_of(rank, diff_num_params), 1, true)) {
  add_part("embedding", embedding_);
  add_part("lin", lin_);
  if (diff_num_params) add_part("lin2", layer(1, 1));
}
Tensor EmbeddingNetDifferentParams::forward(const Tensor& input) { return lin_->forward(embedding_->forward(input)); }

ControlFlowToyModel::ControlFlowToyModel() : lin1_(layer(10, 10)), lin2_(layer(10, 10)) {
  add_part("lin1", lin1_);
  add_part("lin2", lin2_);
}

Tensor ControlFlowToyModel::forward(const Tensor& input) {
  const Tensor first = relu(lin1_->forward(input));
  return equal(input, ones({20, 10}, input.options())) ? lin2_->forward(first) : first;
}

std::shared_ptr<Net> ddp_net() { return std::make_shared<Net>(); }
std::shared_ptr<BatchNormNet> bn_net() { return std::make_shared<BatchNormNet>(); }
std::shared_ptr<BatchNormNet> bn_net_no_affine() { return std::make_shared<BatchNormNet>(false); }
std::shared_ptr<nn::SyncBatchNorm> only_sbn_net(std::shared_ptr<ProcessGroup> group) {
  return std::make_shared<nn::SyncBatchNorm>(2, std::move(group), nn::BatchNormOptions{.momentum = 0.99});
}

}  // namespace distrun::suites
