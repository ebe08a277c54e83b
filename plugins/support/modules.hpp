#pragma once
// Networks that ported tests look into: they keep what they were called with.
#include <map>
#include <memory>

#include <distrun/runtime/nn/layers.hpp>

namespace distrun::suites {

// By module: the last input of its forward(). Its modules share one.
using ForwardInputs = std::map<const nn::Module*, Tensor>;

// A layer of 100 to 100 that keeps its input, and gives it to the layer in the dtype of the weights if told so.
class SaveForwardInputsModule final : public nn::Module {
 public:
  SaveForwardInputsModule(std::shared_ptr<ForwardInputs> inputs, bool cast_forward_inputs);
  Tensor forward(const Tensor& input) override;

 private:
  const std::shared_ptr<ForwardInputs> inputs_;
  const bool cast_forward_inputs_;
  const std::shared_ptr<nn::Linear> layer_;
};

// Two of them, one after the other, beside which it keeps its own input.
class SaveForwardInputsModel final : public nn::Module {
 public:
  SaveForwardInputsModel(std::shared_ptr<ForwardInputs> inputs, bool cast_forward_inputs);
  Tensor forward(const Tensor& input) override;
  nn::Module& first() const noexcept { return *first_; }
  nn::Module& second() const noexcept { return *second_; }

 private:
  const std::shared_ptr<ForwardInputs> inputs_;
  const std::shared_ptr<SaveForwardInputsModule> first_, second_;
};

}  // namespace distrun::suites
