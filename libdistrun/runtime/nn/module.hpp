#pragma once
// Networks composed of modules. A Module has parameters and submodules ("parts"), in the order of their addition;
// forward() computes its result. Modules are resources, held by std::shared_ptr; a rank may own one and others call it.
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <distrun/runtime/nn/given_state.hpp>
#include <distrun/runtime/tensor/core/tensor.hpp>
#include <distrun/runtime/tensor/io/named_tensors.hpp>

namespace distrun::nn {

// Not thread-safe while it is built, moved to a device or switched; threads may call forward() concurrently.
class Module {
 public:
  virtual ~Module() = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  // Throws Error{Unimplemented, "NotImplementedError"} in a module that does not map one tensor to one tensor; such a
  // module has its own operator().
  virtual Tensor forward(const Tensor& input);
  Tensor operator()(const Tensor& input) { return forward(input); }  // the same

  // Returns the module's parameters, then those of its parts. A parameter with several names, such as that of a layer
  // used twice, appears once, under its first name.
  TensorList parameters() const;
  // Returns the parameters that need a gradient, for optimizers.
  TensorList trained_parameters() const;
  // Returns names such as "weight" and "0.bias", which include the names of the parts on the path.
  NamedTensors named_parameters() const;
  // Returns tensors of the module that are not parameters, such as running means: in the same order and with the same
  // names, each once.
  TensorList buffers() const;
  // Returns the buffers with their names.
  NamedTensors named_buffers() const;

  // Returns parameters and buffers, part by part, under all their names. The tensors share their elements with the
  // module's and are not in a graph: to keep their current values, clone or save them.
  NamedTensors state_dict() const;
  // Copies the tensors into those of the same names, from any device, converted to their dtypes, without recording:
  // they stay the same tensors, also for optimizers. Before changing anything, throws Error{InvalidArgument} with all
  // faults: sizes that differ, and if `strict` missing and unexpected names. If not strict, returns these names.
  StateKeys load_state_dict(const NamedTensors& state, bool strict = true);

  // Replaces each parameter by a leaf on the device, with its gradient: create optimizers afterwards, since older ones
  // will throw when they step. Buffers are replaced too. Shared tensors stay shared.
  void to(Device device);
  // Switches the module and its parts for those that work differently in training. New modules are in training mode.
  void train(bool on = true);
  void eval() { train(false); }                               // the opposite of train()
  bool is_training() const noexcept { return is_training_; }  // initially true
  // Clears the gradients of all parameters.
  void zero_grad();

 protected:
  Module() = default;
  // Adds a parameter, a leaf of any dtype; a gradient needs a floating one. Returns its number, by which parameter()
  // finds it, since to() replaces the tensor. Throws Error{InvalidArgument} for an undefined tensor and for a name that
  // is empty, has a dot, or is taken. Called by constructors, like the next functions.
  std::size_t add_parameter(std::string name, Tensor value, bool needs_gradient = true);
  // of add_parameter()
  const Tensor& parameter(std::size_t number) const noexcept { return parameters_[number].second; }
  // Adds a buffer in the same way.
  std::size_t add_buffer(std::string name, Tensor value);
  const Tensor& buffer(std::size_t number) const noexcept { return buffers_[number].second; }  // of add_buffer()
  // Adds a submodule. Throws Error{InvalidArgument} for a null part, and for names as add_parameter().
  void add_part(std::string name, std::shared_ptr<Module> part);
  // Returns the submodules with their names, in order of addition.
  const std::vector<std::pair<std::string, std::shared_ptr<Module>>>& parts() const noexcept { return parts_; }

 private:
  void check_name(const std::string& name) const;
  // Maps an old tensor to itself, which keeps its address from being reused, and to its replacement.
  using Moves = std::unordered_map<const tensor::TensorImpl*, std::pair<Tensor, Tensor>>;
  void move_to(Device device, Moves& moved);

  NamedTensors parameters_, buffers_;
  std::vector<std::pair<std::string, std::shared_ptr<Module>>> parts_;
  bool is_training_ = true;
};

}  // namespace distrun::nn
