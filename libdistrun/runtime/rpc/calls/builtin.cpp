#include <distrun/runtime/rpc/calls/builtin.hpp>

#include <algorithm>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/autograd/operators/operator_table.hpp>
#include <distrun/runtime/rpc/functions/operators.hpp>

namespace distrun::rpc {
namespace {

constexpr std::size_t kSmallBytes = 16 * 1024;  // of all tensors; any operator takes only microseconds for them

bool takes(const std::vector<autograd::Overload>& overloads, const std::vector<tensor::Value>& operands) {
  return std::any_of(overloads.begin(), overloads.end(),
                     [&](const autograd::Overload& each) { return each.takes(operands); });
}

[[noreturn]] void refuse_arguments(const std::string& name, bool by_name) {
  std::string text = "Overloaded torch operator invoked from Python failed to match any schema: operator " + name +
                     (by_name ? " takes no arguments by name, and" : "") + " takes ";
  bool is_first = true;
  for (const autograd::Overload& each : *autograd::find_operator(name)) {
    text += (is_first ? "" : " or ") + to_string(each);
    is_first = false;
  }
  throw Error(ErrorKind::InvalidArgument, "RuntimeError", text);
}

}  // namespace

bool is_small(const ValueList& arguments) noexcept {
  std::size_t bytes = 0;
  for (const Value& each : arguments) {
    const Tensor* const tensor = each.get_if<Tensor>();
    if (tensor == nullptr) {
      if (each.kind() > Kind::String) return false;
      continue;
    }
    if (!tensor->defined() || tensor->is_sparse() || !tensor->device().is_cpu()) return false;
    bytes += static_cast<std::size_t>(tensor->numel()) * size_of(tensor->dtype());
  }
  return bytes <= kSmallBytes;
}

// Errors that operators report for wrong operands become RuntimeErrors, as ported tests expect.
Value run_builtin(const std::string& name, const Arguments& arguments) {
  const std::vector<tensor::Value> operands = operands_of(name, arguments.positional);
  if (!arguments.named.empty() && is_operator(name)) refuse_arguments(name, true);
  try {
    return value_of_result(autograd::call_operator(name, operands));
  } catch (const Error& error) {
    const auto* const overloads = autograd::find_operator(name);
    if (error.type() == "TypeError" && overloads != nullptr && !takes(*overloads, operands)) {
      refuse_arguments(name, false);
    }
    if (error.kind() != ErrorKind::InvalidArgument || error.type() != "ValueError") throw;
    throw Error(error.kind(), "RuntimeError", error.text(), error.where());
  }
}

}  // namespace distrun::rpc
