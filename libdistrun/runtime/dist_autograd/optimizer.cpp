#include <distrun/runtime/dist_autograd/optimizer.hpp>

#include <map>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/dist_autograd/contexts.hpp>
#include <distrun/runtime/future/collect.hpp>
#include <distrun/runtime/rpc/functions/register_class.hpp>

namespace distrun::dist_autograd {
namespace {

constexpr const char* kSgd = "distrun.autograd.sgd";
constexpr const char* kAdam = "distrun.autograd.adam";
constexpr const char* kAdagrad = "distrun.autograd.adagrad";

struct ById {
  bool operator()(const WorkerInfo& a, const WorkerInfo& b) const noexcept { return a.id() < b.id(); }
};

template <class Kind, class Options>
std::shared_ptr<OwnerOptimizer> make_here(const DistributedOptimizer::Parameters& parameters, const Options& options) {
  TensorList own;
  for (const RRef<Tensor>& each : parameters) own.push_back(each.local_value());
  return std::make_shared<OwnerOptimizer>(std::make_unique<Kind>(std::move(own), options));
}

const auto optimizer_class = rpc::RegisterClass<OwnerOptimizer>("distrun.autograd.Optimizer")
                                 .method("step", &OwnerOptimizer::step, {"context"})
                                 .method("set_learning_rate", &OwnerOptimizer::set_learning_rate, {"rate"});
[[maybe_unused]] const bool is_optimizer_registered =
    rpc::register_function<rpc::Execution::Plain>(kSgd, {"parameters", "options"},
                                                  &make_here<nn::SGD, nn::SGDOptions>) &&
    rpc::register_function<rpc::Execution::Plain>(kAdam, {"parameters", "options"},
                                                  &make_here<nn::Adam, nn::AdamOptions>) &&
    rpc::register_function<rpc::Execution::Plain>(kAdagrad, {"parameters", "options"},
                                                  &make_here<nn::Adagrad, nn::AdagradOptions>);

}  // namespace

// A context unknown to this worker has no gradients for its parameters.
void OwnerOptimizer::step(ContextId context) {
  const auto known = current_contexts({})->find(context);
  if (known == nullptr) return;
  const GradientsOfLeaves gradients(known->gradients().entries());
  TensorList of_parameters;
  for (const Tensor& each : optimizer_->parameters()) of_parameters.push_back(gradients.find(each));
  optimizer_->step(of_parameters);
}

DistributedOptimizer::DistributedOptimizer(const Parameters& parameters, nn::SGDOptions options, Location site) {
  make(parameters, kSgd, options, site);
}
DistributedOptimizer::DistributedOptimizer(const Parameters& parameters, nn::AdamOptions options, Location site) {
  make(parameters, kAdam, options, site);
}
DistributedOptimizer::DistributedOptimizer(const Parameters& parameters, nn::AdagradOptions options, Location site) {
  make(parameters, kAdagrad, options, site);
}

template <class Options>
void DistributedOptimizer::make(const Parameters& parameters, const char* function, const Options& options,
                                Location site) {
  if (parameters.empty()) {
    throw Error(ErrorKind::InvalidArgument, "ValueError", "optimizer got an empty parameter list", site);
  }
  std::map<WorkerInfo, Parameters, ById> by_owner;
  for (const RRef<Tensor>& each : parameters) by_owner[each.owner()].push_back(each);
  for (const auto& owned : by_owner) {
    owners_.push_back(
        rref::remote<OwnerOptimizer>(rpc::Destination(owned.first, site), function, owned.second, options));
  }
  for (const RRef<OwnerOptimizer>& each : owners_) each.type();  // throws the constructor's exception
}

template <class Argument>
void DistributedOptimizer::call_owners(const char* method, Argument argument, Location site) {
  std::vector<Future<void>> calls;
  for (const RRef<OwnerOptimizer>& each : owners_) {
    calls.push_back(each.rpc_async({}, site).template call<void>(method, argument));
  }
  for (const Future<void>& each : future::collect_all(calls, site).wait({}, site)) each.wait();
}

void DistributedOptimizer::step(ContextId context, Location site) { call_owners("step", context, site); }

void DistributedOptimizer::set_learning_rate(double rate, Location site) {
  call_owners("set_learning_rate", rate, site);
}

}  // namespace distrun::dist_autograd
