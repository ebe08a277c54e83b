#pragma once
// An optimizer of parameters on several workers: each is updated on its worker, with its gradient there.
//
//   dist_autograd::DistributedOptimizer optimizer(parameters, nn::SGDOptions{.learning_rate = 0.05});
//   {
//     const dist_autograd::ContextScope context;
//     dist_autograd::backward(context.id(), {loss});
//     optimizer.step(context.id());
//   }
#include <memory>
#include <vector>

#include <distrun/common/base/location.hpp>
#include <distrun/common/wire/codec.hpp>
#include <distrun/runtime/dist_autograd/scope.hpp>
#include <distrun/runtime/nn/adagrad.hpp>
#include <distrun/runtime/nn/adam.hpp>
#include <distrun/runtime/nn/sgd.hpp>
#include <distrun/runtime/rref/rref.hpp>

namespace distrun::nn {
DISTRUN_FIELDS(SGDOptions, m.learning_rate, m.momentum, m.dampening, m.weight_decay, m.nesterov)
DISTRUN_FIELDS(AdamOptions, m.learning_rate, m.betas, m.epsilon, m.weight_decay, m.amsgrad, m.decoupled_weight_decay)
DISTRUN_FIELDS(AdagradOptions, m.learning_rate, m.lr_decay, m.weight_decay, m.initial_accumulator_value, m.epsilon)
}  // namespace distrun::nn

namespace distrun::dist_autograd {

// The optimizer of one worker's parameters, on that worker. Others step it through a reference.
class OwnerOptimizer {
 public:
  // must not be null
  explicit OwnerOptimizer(std::unique_ptr<nn::Optimizer> optimizer) : optimizer_(std::move(optimizer)) {}
  // Uses the gradients of that context; a parameter without one stays unchanged. Throws what the optimizer throws.
  void step(ContextId context);
  void set_learning_rate(double rate) { optimizer_->set_learning_rate(rate); }  // as Optimizer

 private:
  const std::unique_ptr<nn::Optimizer> optimizer_;
};

// Thread-safe. References must be to leaves that require a gradient.
class DistributedOptimizer {
 public:
  using Parameters = std::vector<RRef<Tensor>>;  // of any workers
  using Location = base::Location;               // the caller's line, for errors and waits

  // Creates an optimizer on each owner of a parameter. Throws Error{InvalidArgument} without parameters, and what an
  // optimizer throws for its options and its parameters.
  DistributedOptimizer(const Parameters& parameters, nn::SGDOptions options, Location site = Location::here());
  DistributedOptimizer(const Parameters& parameters, nn::AdamOptions options, Location site = Location::here());
  DistributedOptimizer(const Parameters& parameters, nn::AdagradOptions options, Location site = Location::here());

  // Steps all owners concurrently. Throws the first error, after all have answered: the others have made their step.
  void step(ContextId context, Location site = Location::here());
  // Sets the rate of later steps on all owners. Throws as step() does.
  void set_learning_rate(double rate, Location site = Location::here());

 private:
  template <class Options>
  void make(const Parameters& parameters, const char* function, const Options& options, Location site);
  template <class Argument>
  void call_owners(const char* method, Argument argument, Location site);

  std::vector<RRef<OwnerOptimizer>> owners_;
};

}  // namespace distrun::dist_autograd
