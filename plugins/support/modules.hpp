#pragma once
// Networks that keep their inputs for ported tests.
#include <map>
#include <memory>

#include <distrun/runtime/nn/layers.hpp>

namespace distrun::suites {

// The last input of forward() by module, shared by the modules of a network.
using ForwardInputs = std::map<const nn::Module*, Tensor>;

// A layer of 100 to 100 that keeps its input, and on request casts it to the dtype of the weights.
class SaveForwardInputsModule final : public nn::Module {
 public:
  SaveForwardInputsModule(std::shared_ptr<ForwardInputs> inputs, bool cast_forward_inputs);
  Tensor forward(const Tensor& input) override;

 private:
  const std::shared_ptr<ForwardInputs> inputs_;
  const bool cast_forward_inputs_;
  const std::shared_ptr<nn::Linear> layer_;
};

// Two of them in a row; keeps its own input, too.
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
