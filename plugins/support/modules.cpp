#include "modules.hpp"

#include <distrun/runtime/autograd/operators/all.hpp>

namespace distrun::suites {

SaveForwardInputsModule::SaveForwardInputsModule(std::shared_ptr<ForwardInputs> inputs, bool cast_forward_inputs)
    : inputs_(std::move(inputs)),
      cast_forward_inputs_(cast_forward_inputs),
      layer_(std::make_shared<nn::Linear>(100, 100)) {
  add_part("l", layer_);
}

Tensor SaveForwardInputsModule::forward(const Tensor& input) {
  (*inputs_)[this] = input;
  return layer_->forward(cast_forward_inputs_ ? distrun::to(input, layer_->weight().dtype()) : input);
}

SaveForwardInputsModel::SaveForwardInputsModel(std::shared_ptr<ForwardInputs> inputs, bool cast_forward_inputs)
    : inputs_(std::move(inputs)),
      first_(std::make_shared<SaveForwardInputsModule>(inputs_, cast_forward_inputs)),
      second_(std::make_shared<SaveForwardInputsModule>(inputs_, cast_forward_inputs)) {
  add_part("c1", first_);
  add_part("c2", second_);
}

Tensor SaveForwardInputsModel::forward(const Tensor& input) {
  (*inputs_)[this] = input;
  return second_->forward(first_->forward(input));
}

}  // namespace distrun::suites
