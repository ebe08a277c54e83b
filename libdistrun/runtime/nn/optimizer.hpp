#pragma once
// What all optimizers share: the parameters, and a step that moves them by their gradients. Gradients are arguments, so
// that those of distributed autograd, which no grad() has, serve as well. Rules, defaults and texts of errors are those
// of torch.optim.
#include <atomic>
#include <mutex>
#include <variant>
#include <vector>

#include <distrun/runtime/tensor/core/tensor.hpp>
#include <distrun/runtime/tensor/io/named_tensors.hpp>

namespace distrun::nn {

// Any thread: steps come one after the other. They compute with plain operators, so no hook runs while the lock is
// held. On a GPU they are put on the current stream; whoever steps on several orders these, as for the parameters
// themselves.
class Optimizer {
 public:
  // What is kept of one parameter, by its name in state_dict(). Before the first step tensors are undefined.
  struct StateField {
    const char* name;
    std::variant<Tensor*, std::int64_t*> value;
  };
  using StateFields = std::vector<StateField>;

  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  // Moves each parameter in place by its gradient, one for each parameter; where it is undefined, the parameter and its
  // state stay. Nothing is recorded, and grad() not looked at. Throws Error{InvalidArgument}, before anything is moved,
  // for another number of gradients, for those that have not the sizes, dtype and device of the parameter, for
  // sparse ones that the optimizer or its options can't do with, and for a parameter in whose place Module::to() has
  // put another one since.
  void step(const TensorList& gradients);
  // By grad() of each.
  void step();
  void zero_grad();

  const TensorList& parameters() const noexcept { return parameters_; }

  double learning_rate() const noexcept { return learning_rate_.load(std::memory_order_relaxed); }
  // For the steps to come. Throws Error{InvalidArgument, "ValueError"} for one below 0.
  void set_learning_rate(double rate);

  // What it needs to go on: "learning_rate", and of each parameter that it has moved what it keeps, behind the number:
  // "0.momentum_buffer", "1.exp_avg", "1.step". The tensors are its own, which steps change: whoever wants to keep what
  // they are now clones them, or saves them.
  NamedTensors state_dict();
  // Copies that, to the devices of the parameters. With the same parameters and options, steps are to the bit those
  // that would have come. Throws Error{InvalidArgument} with all that is wrong, before anything is changed: what is
  // missing, what it does not know, as the state of another kind of optimizer, and sizes that differ.
  void load_state_dict(const NamedTensors& state);

 protected:
  // `name` stands in errors and lives on. Throws Error{InvalidArgument} unless parameters are leaves that require a
  // gradient, each given once, and for a learning rate below 0.
  Optimizer(const char* name, TensorList parameters, double learning_rate);

  // Throws Error{InvalidArgument, "ValueError"}, "Invalid learning rate: -1", unless `is_valid`.
  static void check_option(bool is_valid, const char* option, double value);

 private:
  // Throws Error{InvalidArgument} for a sparse gradient that can't be used. Any thread.
  virtual void check_sparse() const = 0;
  // One at a time; the gradient is defined and fits.
  virtual void move(std::size_t number, const Tensor& gradient) = 0;
  // With `stepping_` held.
  virtual StateFields state_of(std::size_t number) = 0;

  void check(const TensorList& gradients) const;
  static void check_learning_rate(double rate);

  const char* const name_;
  const TensorList parameters_;
  std::atomic<double> learning_rate_;  // changed with `stepping_` held
  std::mutex stepping_;                // held by a step; guards parameters' elements and the state of derived classes
};

// A gradient with the parameter's share of L2 decay; itself without.
Tensor decayed(const Tensor& gradient, const Tensor& parameter, double weight_decay);

// State that a step uses: its memory is not given to others before the current stream is through with it.
void use_on_current_stream(const Tensor& state);

}  // namespace distrun::nn
