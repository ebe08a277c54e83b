#pragma once
// What all optimizers share: the parameters, and a step that moves them by their gradients. Gradients are arguments, so
// that those of distributed autograd, which no grad() has, serve as well. Rules, defaults and texts of errors are those
// of torch.optim.
#include <mutex>

#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::nn {

// Any thread: steps come one after the other. They compute with plain operators, so no hook runs while the lock is
// held. On a GPU they are put on the current stream; whoever steps on several orders these, as for the parameters
// themselves.
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  // Moves each parameter in place by its gradient, one for each parameter; where it is undefined, the parameter and its
  // state stay. Nothing is recorded, and grad() not looked at. Throws Error{InvalidArgument}, before anything is moved,
  // for another number of gradients, for those that have not the sizes, dtype and device of the parameter, and for
  // sparse ones that the optimizer or its options can't do with.
  void step(const TensorList& gradients);
  // By grad() of each.
  void step();
  void zero_grad();

  const TensorList& parameters() const noexcept { return parameters_; }

 protected:
  // `name` stands in errors and lives on. Throws Error{InvalidArgument} unless parameters are leaves that require a
  // gradient.
  Optimizer(const char* name, TensorList parameters);

  // Throws Error{InvalidArgument, "ValueError"}, "Invalid learning rate: -1", unless `is_valid`.
  static void check_option(bool is_valid, const char* option, double value);

 private:
  // Throws Error{InvalidArgument} for a sparse gradient that can't be used. Any thread.
  virtual void check_sparse() const = 0;
  // One at a time; the gradient is defined and fits.
  virtual void move(std::size_t number, const Tensor& gradient) = 0;

  void check(const TensorList& gradients) const;

  const char* const name_;
  const TensorList parameters_;
  std::mutex stepping_;  // held by a step; guards parameters' elements and the state of derived classes
};

// A gradient with the parameter's share of L2 decay; itself without.
Tensor decayed(const Tensor& gradient, const Tensor& parameter, double weight_decay);

// State that a step uses: its memory is not given to others before the current stream is through with it.
void use_on_current_stream(const Tensor& state);

}  // namespace distrun::nn
