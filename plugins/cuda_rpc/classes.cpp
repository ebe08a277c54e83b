#include "callees.hpp"
#include "support/device_scale.hpp"

namespace distrun::suites {
namespace {

using rpc::RegisterClass;

[[maybe_unused]] const auto kTensorWrapper = RegisterClass<TensorWrapper>("TensorWrapper")
                                                 .constructor<Tensor>({"t"})
                                                 .method("increase", &TensorWrapper::increase, {"v"})
                                                 .method("add", &TensorWrapper::add, {"other"})
                                                 .method("sum", &TensorWrapper::sum);

[[maybe_unused]] const auto kMyConvNetForMNIST = RegisterClass<MyConvNetForMNIST>("MyConvNetForMNIST")
                                                     .constructor<device::Device>({"device"})
                                                     .method("forward", &MyConvNetForMNIST::forward, {"x", "is_rref"});

[[maybe_unused]] const auto kLinear = RegisterClass<LinearObject>("Linear")
                                          .constructor<std::int64_t, std::int64_t>({"in_features", "out_features"})
                                          .method("to", &LinearObject::to, {"device"})
                                          .method("forward", &LinearObject::forward, {"input"});

std::vector<std::shared_ptr<nn::Module>> layers_for_digits() {
  return {std::make_shared<nn::Conv2d>(1, 16, 3),  std::make_shared<nn::ReLU>(),
          std::make_shared<nn::Conv2d>(16, 32, 3), std::make_shared<nn::ReLU>(),
          std::make_shared<nn::MaxPool2d>(2),      std::make_shared<nn::Flatten>(1),
          std::make_shared<nn::Linear>(4608, 128), std::make_shared<nn::ReLU>(),
          std::make_shared<nn::Linear>(128, 10)};
}

}  // namespace

TensorWrapper::TensorWrapper(Tensor tensor) : tensor_(std::move(tensor)) {
  event_.record(device::current_stream(tensor_.device()));
}
void TensorWrapper::increase(std::int64_t by) {
  const std::lock_guard lock(mutex_);
  add_(tensor_, by);
}
void TensorWrapper::add(Tensor other) {
  const std::lock_guard lock(mutex_);
  add_(tensor_, other);
}
Tensor TensorWrapper::sum() {
  const std::lock_guard lock(mutex_);
  event_.record(device::current_stream(tensor_.device()));
  return distrun::sum(tensor_);
}
void TensorWrapper::visit_tensors(const future::TensorVisitor& visit) const {
  const std::lock_guard lock(mutex_);
  visit(tensor_);
}

MyConvNetForMNIST::MyConvNetForMNIST(device::Device device)
    : device_(device), net_(std::make_unique<nn::Sequential>(layers_for_digits())) {
  net_->to(device_);
}

Tensor MyConvNetForMNIST::forward(rpc::Value x, std::optional<bool> is_rref) {
  const Tensor input =
      is_rref.value_or(false) ? rpc::from_value<RRef<Tensor>>(x).to_here() : rpc::from_value<Tensor>(x);
  keep_busy(device::current_stream(input.device()), kSlowCycles);
  return net_->forward(input);
}

std::shared_ptr<LinearObject> LinearObject::to(device::Device device) {
  layer_.to(device);
  return shared_from_this();
}

}  // namespace distrun::suites
