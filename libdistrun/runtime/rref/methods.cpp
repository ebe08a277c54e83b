#include <distrun/runtime/rref/methods.hpp>

#include <algorithm>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/nearest.hpp>
#include <distrun/runtime/rpc/calls/builtin.hpp>
#include <distrun/runtime/rpc/calls/run_call.hpp>
#include <distrun/runtime/rpc/functions/operators.hpp>
#include <distrun/runtime/rpc/functions/registry.hpp>

namespace distrun::rref {
namespace {

constexpr char kTensor[] = "Tensor";
constexpr char kSize[] = "size";

// Instance methods take the object first, as a parameter with that name; static and class methods do not.
bool takes_object(const rpc::Function& function) {
  const auto& parameters = function.signature.parameters;
  return !parameters.empty() && parameters.front().name == "self";
}

// Combines several ints into one list if the operator requires it: view(1, 4).
void gather_ints(const Value& tensor, const std::string& name, rpc::ValueList& arguments) {
  const auto is_int = [](const Value& each) { return each.kind() == rpc::Kind::Int; };
  if (arguments.empty() || !std::all_of(arguments.begin(), arguments.end(), is_int)) return;
  rpc::ValueList operands = arguments;
  operands.insert(operands.begin(), tensor);
  if (rpc::takes_operands(name, operands)) return;
  arguments = {Value(rpc::List{std::move(arguments)})};
}

rpc::Result call_operator(const Value& tensor, const std::string& name, rpc::Arguments arguments) {
  if (name == kSize && arguments.positional.empty()) {
    const auto sizes = tensor.get_if<Tensor>()->sizes();
    return rpc::to_value(std::vector<std::int64_t>(sizes.begin(), sizes.end()));
  }
  gather_ints(tensor, name, arguments.positional);
  arguments.positional.insert(arguments.positional.begin(), tensor);
  return rpc::run_builtin(name, arguments);
}

}  // namespace

std::string type_name_of(const Value& value) {
  const auto* const instance = value.get_if<rpc::Instance>();
  return instance != nullptr ? instance->type->name : std::string(name_of(value.kind()));
}

bool has_method(const std::string& type, const std::string& method) {
  return type == kTensor ? rpc::is_operator(method) : rpc::find_function(type + "." + method) != nullptr;
}

std::vector<std::string> methods_of(const std::string& type) {
  if (type == kTensor) return rpc::operator_names();
  std::vector<std::string> methods;
  const std::string before = type + ".";
  for (const std::string& name : rpc::function_names()) {
    if (name.starts_with(before)) methods.push_back(name.substr(before.size()));
  }
  return methods;
}

void check_method(const std::string& type, const std::string& method) {
  if (has_method(type, method)) return;
  throw Error(ErrorKind::InvalidArgument, "AttributeError",
              "'" + type + "' object has no attribute '" + method + "'" + base::did_you_mean(method, methods_of(type)));
}

rpc::Result call_method(const Value& object, const std::string& method, rpc::Arguments arguments) {
  const std::string type = type_name_of(object);
  check_method(type, method);
  if (type == kTensor) return call_operator(object, method, std::move(arguments));
  const auto function = rpc::get_function(type + "." + method);
  if (takes_object(*function)) arguments.positional.insert(arguments.positional.begin(), object);
  return rpc::run_registered(*function, rpc::bind_arguments(function->signature, std::move(arguments)));
}

}  // namespace distrun::rref
