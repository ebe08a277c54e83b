#pragma once
// A module on another worker: created there, called from here, with references to its parameters.
//
//   struct Net : nn::Module { explicit Net(int width); Tensor forward(const Tensor& x) override; };
//   static const auto net = dist_autograd::RegisterModule<Net>("Net").constructor<int>({"width"});
//
//   dist_autograd::RemoteModule there("worker1", "Net", 64);
//   const Tensor y = there.forward(x);
//   dist_autograd::DistributedOptimizer optimizer(there.parameters(), nn::SGDOptions{});
#include <string>
#include <utility>
#include <vector>

#include <distrun/runtime/nn/module.hpp>
#include <distrun/runtime/rpc/functions/register_class.hpp>
#include <distrun/runtime/rref/rref.hpp>

namespace distrun::dist_autograd {

// Like rpc::RegisterClass, with the methods that RemoteModule calls.
template <class Net>
class RegisterModule : public rpc::RegisterClass<Net> {
 public:
  // Registers the class under that name with its methods "forward" and "trained_parameters". Call it while the plugin
  // is loaded.
  explicit RegisterModule(const std::string& name) : rpc::RegisterClass<Net>(name) {
    this->method("forward", static_cast<Tensor (Net::*)(const Tensor&)>(&Net::forward), {"input"});
    rpc::register_function<rpc::Execution::Plain>((name + ".trained_parameters").c_str(), {"self"}, &parameters_of);
  }

 private:
  static std::vector<RRef<Tensor>> parameters_of(std::shared_ptr<Net> module) {
    std::vector<RRef<Tensor>> references;
    for (const Tensor& each : module->trained_parameters()) references.emplace_back(each);
    return references;
  }
};

// As thread-safe as the module's forward().
class RemoteModule {
 public:
  // Creates a module of a class that is registered there. Throws as rref::remote(); an exception of the constructor is
  // thrown by forward().
  template <class... Passed>
  RemoteModule(const rpc::Destination& to, const std::string& name, Passed&&... passed)
      : module_(rref::remote<rpc::Value>(to, name, std::forward<Passed>(passed)...)) {}

  // Calls the module's forward() there and waits. Throws what it throws, and what rpc_sync() throws.
  Tensor forward(const Tensor& input) const { return module_.rpc_sync().template call<Tensor>("forward", input); }
  // Is forward() without waiting; the future has the result or the error.
  Future<Tensor> forward_async(const Tensor& input) const {
    return module_.rpc_async().template call<Tensor>("forward", input);
  }
  // Returns references to the parameters that need a gradient, on their worker.
  std::vector<RRef<Tensor>> parameters() const {
    return module_.rpc_sync().template call<std::vector<RRef<Tensor>>>("trained_parameters");
  }
  const RRef<rpc::Value>& module() const noexcept { return module_; }  // a reference to the module

 private:
  RRef<rpc::Value> module_;
};

}  // namespace distrun::dist_autograd
