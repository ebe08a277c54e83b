#include <distrun/runtime/rpc/functions/function.hpp>

#include <algorithm>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/nearest.hpp>

namespace distrun::rpc {
namespace {

[[noreturn]] void refuse(const Signature& of, const std::string& what) {
  throw Error(ErrorKind::InvalidArgument, "TypeError", of.name + "() " + what);
}

// "'a'", "'a' and 'b'", "'a', 'b', and 'c'"
std::string list_names(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i != 0) text += names.size() > 2 ? ", " : " ";
    if (i != 0 && i + 1 == names.size()) text += "and ";
    text += "'" + names[i] + "'";
  }
  return text;
}

void refuse_missing(const Signature& of, const std::vector<std::string>& missing) {
  refuse(of, "missing " + std::to_string(missing.size()) + " required positional argument" +
                 (missing.size() == 1 ? "" : "s") + ": " + list_names(missing));
}

void refuse_surplus(const Signature& of, std::size_t given) {
  const std::size_t takes = of.parameters.size();
  refuse(of, "takes " + std::to_string(takes) + " positional argument" + (takes == 1 ? "" : "s") + " but " +
                 std::to_string(given) + (given == 1 ? " was given" : " were given"));
}

// Returns the index of the parameter with that name.
std::size_t place_of(const Signature& of, const std::string& name) {
  const auto found = std::find_if(of.parameters.begin(), of.parameters.end(),
                                  [&](const Parameter& each) { return each.name == name; });
  if (found == of.parameters.end()) {
    std::vector<std::string> known;
    for (const Parameter& each : of.parameters) known.push_back(each.name);
    refuse(of, "got an unexpected keyword argument '" + name + "'" + base::did_you_mean(name, known));
  }
  return static_cast<std::size_t>(found - of.parameters.begin());
}

}  // namespace

ValueList bind_arguments(const Signature& signature, Arguments arguments) {
  const std::size_t count = signature.parameters.size();
  const std::size_t given = arguments.positional.size();
  if (given > count) refuse_surplus(signature, given);
  if (given == count && arguments.named.empty()) return std::move(arguments.positional);
  ValueList bound = std::move(arguments.positional);
  bound.resize(count);
  std::vector<bool> has(count, false);
  std::fill_n(has.begin(), given, true);
  for (auto& [name, value] : arguments.named) {
    const std::size_t place = place_of(signature, name);
    if (has[place]) refuse(signature, "got multiple values for argument '" + name + "'");
    has[place] = true;
    bound[place] = std::move(value);
  }
  std::vector<std::string> missing;
  for (std::size_t i = 0; i < count; ++i) {
    if (!has[i] && !signature.parameters[i].is_optional) missing.push_back(signature.parameters[i].name);
  }
  if (!missing.empty()) refuse_missing(signature, missing);
  return bound;
}

std::string to_string(const Signature& signature) {
  std::string text = signature.name + "(";
  for (std::size_t i = 0; i < signature.parameters.size(); ++i) {
    if (i != 0) text += ", ";
    text += signature.parameters[i].name + ": " + signature.parameters[i].type;
  }
  return text + ")";
}

}  // namespace distrun::rpc
