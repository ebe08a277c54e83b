#include <distrun/runtime/nn/given_state.hpp>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/text.hpp>

namespace distrun::nn {
namespace {

std::string listed(const char* what, const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& each : names) text += (text.empty() ? "\"" : ", \"") + base::one_line(each) + "\"";
  return text.empty() ? "" : std::string("\n\t") + what + " key(s) in state_dict: " + text + ".";
}

// Returns why a tensor cannot be copied into another; empty if it can.
std::string misfit(const std::string& name, const Tensor& given, const Tensor& target) {
  if (!given.defined()) return name + ": the tensor in the state is undefined.";
  if (given.is_sparse()) return name + ": the tensor in the state is sparse; load its to_dense().";
  if (given.sizes() == target.sizes()) return "";
  return "size mismatch for " + name + ": copying a param with shape " + device::to_string(given.sizes()) +
         " from checkpoint, the shape in current model is " + device::to_string(target.sizes()) + ".";
}

}  // namespace

GivenState::GivenState(const NamedTensors& state) : state_(state) {
  for (const auto& [name, tensor] : state) {
    if (!tensors_.try_emplace(name, Entry{&tensor}).second) add_fault("\"" + base::one_line(name) + "\" stands twice.");
  }
}

const Tensor* GivenState::take(const std::string& name) {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) {
    missing_.push_back(name);
    return nullptr;
  }
  found->second.is_taken = true;
  return found->second.tensor;
}

const Tensor* GivenState::take_for(const std::string& name, const Tensor& target) {
  const Tensor* const given = take(name);
  if (given == nullptr) return nullptr;
  std::string why = misfit(name, *given, target);
  if (why.empty()) return given;
  add_fault(std::move(why));
  return nullptr;
}

StateKeys GivenState::keys() const {
  StateKeys keys{missing_, {}};
  for (const auto& [name, tensor] : state_) {
    if (!tensors_.at(name).is_taken) keys.unexpected.push_back(name);
  }
  return keys;
}

void GivenState::check(const std::string& owner, bool strict) const {
  std::string text;
  if (strict) {
    const StateKeys wrong = keys();
    text = listed("Missing", wrong.missing) + listed("Unexpected", wrong.unexpected);
  }
  for (const std::string& each : faults_) text += "\n\t" + each;
  if (text.empty()) return;
  throw Error(ErrorKind::InvalidArgument, "Error(s) in loading state_dict for " + owner + ":" + text);
}

}  // namespace distrun::nn
