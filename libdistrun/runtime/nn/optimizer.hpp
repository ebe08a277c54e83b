#pragma once
// Base of all optimizers: the parameters, and a step that moves them by their gradients. Gradients are arguments, so
// that those of distributed autograd, which are not in grad(), work too. Rules, defaults and error texts are those of
// torch.optim.
#include <atomic>
#include <mutex>
#include <variant>
#include <vector>

#include <distrun/runtime/tensor/core/tensor.hpp>
#include <distrun/runtime/tensor/io/named_tensors.hpp>

namespace distrun::nn {

// Any thread: steps are serialized. They use plain operators, so no hook runs while the lock is held. GPU work goes to
// the current stream; a caller that steps on several streams must order them, as for the parameters themselves.
class Optimizer {
 public:
  // A part of one parameter's state, with its name in state_dict(). Tensors are undefined before the first step.
  struct StateField {
    const char* name;                            // "exp_avg"; valid as long as the program
    std::variant<Tensor*, std::int64_t*> value;  // valid as long as the optimizer
  };
  using StateFields = std::vector<StateField>;  // of one parameter

  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  // Moves each parameter in place by its gradient; where the gradient is undefined, the parameter and its state stay.
  // Records nothing, and ignores grad(). Before moving anything, throws Error{InvalidArgument} for a wrong number of
  // gradients, wrong sizes, dtype or device, a sparse gradient that the optimizer or its options do not support, and a
  // parameter that Module::to() has replaced.
  void step(const TensorList& gradients);
  // Uses grad() of each parameter.
  void step();
  void zero_grad();  // clears grad() of all parameters

  const TensorList& parameters() const noexcept { return parameters_; }  // as passed to the constructor

  double learning_rate() const noexcept { return learning_rate_.load(std::memory_order_relaxed); }  // of the next step
  // Sets the rate for the following steps. Throws Error{InvalidArgument, "ValueError"} for a negative rate.
  void set_learning_rate(double rate);

  // Returns the state needed to continue: "learning_rate", and the state of each parameter moved so far, by its number:
  // "0.momentum_buffer", "1.exp_avg", "1.step". The tensors are the optimizer's, and steps change them: to keep their
  // current values, clone or save them.
  NamedTensors state_dict();
  // Copies the state to the parameters' devices. With the same parameters and options, the following steps are bitwise
  // identical. Before changing anything, throws Error{InvalidArgument} with all faults: missing and unknown names, as
  // in the state of another kind of optimizer, and sizes that differ.
  void load_state_dict(const NamedTensors& state);

 protected:
  // `name` is used in errors and not copied. Throws Error{InvalidArgument} unless parameters are leaves that require a
  // gradient, each given once, and for a negative learning rate.
  Optimizer(const char* name, TensorList parameters, double learning_rate);

  // Throws Error{InvalidArgument, "ValueError"}, "Invalid learning rate: -1", unless `is_valid`.
  static void check_option(bool is_valid, const char* option, double value);

 private:
  // Throws Error{InvalidArgument} if sparse gradients are not supported. Any thread.
  virtual void check_sparse() const = 0;
  // Called for one parameter at a time; the gradient is defined and fits.
  virtual void move(std::size_t number, const Tensor& gradient) = 0;
  // Called with `stepping_` held.
  virtual StateFields state_of(std::size_t number) = 0;

  void check(const TensorList& gradients) const;
  static void check_learning_rate(double rate);

  const char* const name_;
  const TensorList parameters_;
  std::atomic<double> learning_rate_;  // changed with `stepping_` held
  std::mutex stepping_;                // held by a step; guards parameters' elements and derived classes' state
};

// Adds L2 decay to the gradient; returns the gradient itself if the decay is 0.
Tensor decayed(const Tensor& gradient, const Tensor& parameter, double weight_decay);

// Keeps the memory of a step's state from being reused before the current stream is done with it.
void use_on_current_stream(const Tensor& state);

}  // namespace distrun::nn
