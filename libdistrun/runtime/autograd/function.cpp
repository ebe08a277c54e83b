#include <distrun/runtime/autograd/function.hpp>

#include <algorithm>
#include <optional>

#include <distrun/common/base/demangle.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/runtime/autograd/anomaly.hpp>
#include <distrun/runtime/autograd/record.hpp>
#include <distrun/runtime/autograd/scope.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>
#include <distrun/runtime/tensor/core/views.hpp>

namespace distrun::autograd {
namespace {

// Returns the size of the list if the tensor is not in it.
std::size_t place_in(const TensorList& list, const Tensor& tensor) {
  const auto same = [&tensor](const Tensor& entry) { return entry.is_same(tensor); };
  return static_cast<std::size_t>(std::find_if(list.begin(), list.end(), same) - list.begin());
}
bool contains(const TensorList& list, const Tensor& tensor) { return place_in(list, tensor) < list.size(); }

// Returns "Scale" for "app::(anonymous namespace)::Scale".
std::string short_name(const std::type_info& function) {
  const std::string name = base::demangled_type(function.name());
  const std::size_t last = name.rfind("::", name.find('<'));
  return last == std::string::npos ? name : name.substr(last + 2);
}

}  // namespace

class FunctionNode final : public Node {
 public:
  FunctionNode(const std::type_info& function, FunctionCall::Backward backward)
      : function_(function), backward_(backward) {
    context.node_ = this;
  }

  std::string name() const override { return short_name(function_) + "Backward"; }

  Gradients apply(Gradients gradients) override {
    if (is_released()) throw_released(*this);
    TensorList list;
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      if (!gradients[i].defined() && context.materializes_) {
        const InputMetadata& like = inputs()[i];
        gradients[i] = tensor::zeros(like.sizes, {like.dtype, like.device});
      }
      list.push_back(std::move(gradients[i]));
    }
    Gradients results;
    for (Tensor& result : backward_(context, std::move(list))) results.push_back(std::move(result));
    return results;
  }

  void release_saved() noexcept override {
    const KeptLock lock(*this);
    is_released_ = !context.saved_.empty();
    for (SavedTensor& saved : context.saved_) saved.release();
  }

  void save(const TensorList& results) {
    for (const Tensor& tensor : context.to_save_) {
      const std::size_t number = place_in(results, tensor);
      const bool is_result = number < results.size();
      context.saved_.push_back(is_result ? SavedTensor::of_result(tensor, static_cast<std::uint32_t>(number))
                                         : SavedTensor(tensor));
    }
    context.to_save_.clear();
  }

  FunctionContext context;

 private:
  bool is_released() const noexcept {
    const KeptLock lock(*this);
    return is_released_;
  }

  const std::type_info& function_;
  const FunctionCall::Backward backward_;
  bool is_released_ = false;
};

TensorList FunctionContext::saved_tensors() const {
  TensorList tensors;
  for (const SavedTensor& saved : saved_) tensors.push_back(saved.unpack(*node_));
  return tensors;
}

bool FunctionContext::needs_input_gradient(std::size_t argument) const { return node_->needs(argument); }

FunctionCall::FunctionCall(const std::type_info& function, Backward backward)
    : node_(tensor::make_ref<FunctionNode>(function, backward)) {}
FunctionCall::~FunctionCall() = default;

FunctionContext& FunctionCall::begin() {
  needs_gradient_ = any_needs_gradient(inputs_);
  for (const Tensor& input : inputs_) node_->add_next_edge(needs_gradient_ ? gradient_edge(input) : Edge());
  if (needs_gradient_ && is_anomaly_mode()) node_->set_forward_site(forward_site());
  return node_->context;
}

TensorList FunctionCall::end(TensorList results) {
  if (!needs_gradient_) return results;
  for (const Tensor& changed : node_->context.dirty_) {
    if (contains(results, changed)) continue;
    throw Error(ErrorKind::InvalidArgument,
                node_->name() + ": " + describe(changed) +
                    " is marked as changed in place, but is not among the results; forward() must return it");
  }
  const auto is_dirty_view = [this](const Tensor& result) {
    const Variable* variable = variable_of(result);
    return variable != nullptr && variable->view && contains(node_->context.dirty_, result);
  };
  if (results.size() > 1 && std::any_of(results.begin(), results.end(), is_dirty_view)) {
    throw Error(ErrorKind::InvalidArgument,
                node_->name() + ": a function that changes a view in place must have one result");
  }
  TensorList finished;
  for (const Tensor& result : results) finished.push_back(finish_result(result));
  node_->save(results);
  // The results hold the node from now on: if it held them, that would be a cycle.
  node_->context.dirty_.clear();
  node_->context.non_differentiable_.clear();
  return finished;
}

Tensor FunctionCall::finish_result(const Tensor& result) {
  const FunctionContext& context = node_->context;
  if (!result.defined() || !tensor::is_floating(result.dtype()) || contains(context.non_differentiable_, result)) {
    // Inputs of the node must match results of the function in number.
    node_->add_input(result.defined() ? result : tensor::empty({0}));
    return contains(inputs_, result) ? tensor::alias(result) : result;
  }
  if (contains(context.dirty_, result)) {
    check_in_place(result);
    const std::size_t argument = place_in(inputs_, result);
    rebase_history(result, node_, node_->add_input(result), argument < inputs_.size() ? argument : 0);
    return result;
  }
  Tensor own = result;
  // An argument that is returned unchanged keeps its position in the graph.
  if (contains(inputs_, result)) {
    own = tensor::alias(result);
    if (!own.is_sparse()) mark_view(own, result);
  }
  if (const Variable* variable = variable_of(own); variable != nullptr && variable->view) mark_view_of_function(own);
  return with_history(std::move(own), node_);
}

}  // namespace distrun::autograd
