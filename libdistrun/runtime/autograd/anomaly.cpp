#include <distrun/runtime/autograd/anomaly.hpp>

#include <vector>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/core/call_stack.hpp>
#include <distrun/runtime/symbols/caller.hpp>
#include <distrun/runtime/tensor/operators/elementwise.hpp>
#include <distrun/runtime/tensor/operators/reduce.hpp>
#include <distrun/runtime/tensor/sparse/sparse.hpp>

namespace distrun::autograd {
namespace {

constinit thread_local const char* forward_name = nullptr;

bool has_nan(const Tensor& tensor) {
  if (tensor.is_sparse()) return has_nan(tensor::sparse(tensor).values);
  return tensor::is_floating(tensor.dtype()) && !tensor::all(tensor::eq(tensor, tensor)).item_as<bool>();
}

}  // namespace

ForwardName::ForwardName(const char* name) noexcept : before_(forward_name) { forward_name = name; }
ForwardName::~ForwardName() { forward_name = before_; }

ForwardSite forward_site() { return {forward_name == nullptr ? "" : forward_name, core::call_stack()}; }

std::string forward_text(const Node& node) {
  const ForwardSite* const site = node.forward_site();
  if (site == nullptr) return "The forward call of " + node.name() + " is recorded only in anomaly mode.";
  std::string text = "The forward call of " + node.name() + " was made at:\n";
  if (!site->name.empty()) text += "  in " + site->name + "\n";
  const std::vector<std::string> calls =
      site->calls == nullptr ? std::vector<std::string>() : symbols::users_calls(*site->calls);
  for (const std::string& call : calls) text += "  " + call + "\n";
  return calls.empty() ? text + "  unknown place\n" : text;
}

std::string name_with_site(const Node& node) {
  const ForwardSite* const site = node.forward_site();
  if (site == nullptr) return node.name();
  std::string place = site->name.empty() ? "" : " in " + site->name;
  if (site->calls != nullptr) place += symbols::place_text({{}, site->calls});
  return place.empty() ? node.name() : node.name() + " (made" + place + ")";
}

void check_for_nan(const Node& node, const Gradients& results) {
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!results[i].defined() || !has_nan(results[i])) continue;
    throw Error(ErrorKind::Failed,
                "Function '" + node.name() + "' returned nan values in its " + std::to_string(i) + "th output.");
  }
}

}  // namespace distrun::autograd
