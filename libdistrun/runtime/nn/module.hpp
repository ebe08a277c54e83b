#pragma once
// Networks from parts. A Module has parameters and parts of its own, in the order in which they were added; forward()
// is what it computes. Modules are resources, held by std::shared_ptr; a rank may own one and others call it.
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <distrun/runtime/nn/given_state.hpp>
#include <distrun/runtime/tensor/core/tensor.hpp>
#include <distrun/runtime/tensor/io/named_tensors.hpp>

namespace distrun::nn {

// Not thread-safe while it is built, moved to a device or switched; threads may call forward() at the same time.
class Module {
 public:
  virtual ~Module() = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  // Throws Error{Unimplemented, "NotImplementedError"} where a module takes or returns something else than one tensor:
  // its own operator() does.
  virtual Tensor forward(const Tensor& input);
  Tensor operator()(const Tensor& input) { return forward(input); }

  // Its own, then those of its parts. One that has several names, as that of a layer that stands twice in a network,
  // comes once, by the first of them.
  TensorList parameters() const;
  // Those of them that need a gradient, for optimisers.
  TensorList trained_parameters() const;
  // "weight", "0.bias": with the names of the parts on the way.
  NamedTensors named_parameters() const;
  // Tensors that belong to it and are no parameters, as running means: in the same order, with the same names, each
  // once.
  TensorList buffers() const;
  NamedTensors named_buffers() const;

  // Parameters and buffers, those of a part behind each other, by all their names. The tensors share their elements
  // with those of the module, and belong to no graph: whoever wants to keep what they are now clones them, or saves
  // them.
  NamedTensors state_dict() const;
  // Copies the tensors into those of the same names, on whatever device, in their dtype, and records nothing: they stay
  // the same tensors, for optimizers as well. Throws Error{InvalidArgument} with all that is wrong, before anything is
  // changed: sizes that differ, and if `strict` names that are missing or that the module has not. Else these are what
  // is returned.
  StateKeys load_state_dict(const NamedTensors& state, bool strict = true);

  // Every parameter is replaced by a leaf there, with its gradient: optimisers are to be made afterwards, and one of
  // before refuses to step. Buffers are replaced, too. What is one tensor stays one.
  void to(Device device);
  // Of it and its parts, for those that work differently while training. New modules are training.
  void train(bool on = true);
  void eval() { train(false); }
  bool is_training() const noexcept { return is_training_; }
  // Clears the gradients of all parameters.
  void zero_grad();

 protected:
  Module() = default;
  // These in constructors. They throw Error{InvalidArgument} for an undefined tensor, a part that is null, and a name
  // that is empty, has a dot, or is taken.
  //
  // Returns its number: to() puts another tensor in its place.
  // Of any dtype if no gradient is needed.
  std::size_t add_parameter(std::string name, Tensor value, bool needs_gradient = true);
  const Tensor& parameter(std::size_t number) const noexcept { return parameters_[number].second; }
  // The same for buffers.
  std::size_t add_buffer(std::string name, Tensor value);
  const Tensor& buffer(std::size_t number) const noexcept { return buffers_[number].second; }
  void add_part(std::string name, std::shared_ptr<Module> part);
  const std::vector<std::pair<std::string, std::shared_ptr<Module>>>& parts() const noexcept { return parts_; }

 private:
  void check_name(const std::string& name) const;
  // By what a tensor was: that, which lives on so that its place is no other's, and what it is now.
  using Moves = std::unordered_map<const tensor::TensorImpl*, std::pair<Tensor, Tensor>>;
  void move_to(Device device, Moves& moved);

  NamedTensors parameters_, buffers_;
  std::vector<std::pair<std::string, std::shared_ptr<Module>>> parts_;
  bool is_training_ = true;
};

}  // namespace distrun::nn
