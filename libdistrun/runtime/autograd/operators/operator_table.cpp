#include <distrun/runtime/autograd/operators/operator_table.hpp>

#include <distrun/common/base/nearest.hpp>
#include <distrun/runtime/autograd/operators/operator_list.hpp>

namespace distrun::autograd {
namespace {

constexpr std::size_t kNameMost = 100;  // of an unknown operator, in the error

std::string kinds_of(std::span<const Value> arguments) {
  std::string text;
  for (const Value& argument : arguments) {
    text += (text.empty() ? "" : ", ");
    text += name_of(kind_of(argument));
  }
  return "(" + text + ")";
}

[[noreturn]] void refuse_kinds(std::string_view name, std::span<const Value> arguments,
                               const std::vector<Overload>& overloads) {
  std::string text = "operator " + std::string(name) + " does not take " + kinds_of(arguments) + "; it takes ";
  for (std::size_t i = 0; i < overloads.size(); ++i) text += (i == 0 ? "" : " or ") + to_string(overloads[i]);
  throw Error(ErrorKind::InvalidArgument, "TypeError", text);
}

Value call(const Overload& overload, std::span<const Value> arguments) {
  if (arguments.size() == overload.parameters.size()) return overload.run(arguments);
  std::vector<Value> all;
  all.reserve(overload.parameters.size());
  all.assign(arguments.begin(), arguments.end());
  const std::size_t missing = overload.parameters.size() - arguments.size();
  all.insert(all.end(), overload.defaults.end() - static_cast<std::ptrdiff_t>(missing), overload.defaults.end());
  return overload.run(all);
}

}  // namespace

Value call_operator(std::string_view name, std::span<const Value> arguments) {
  const std::vector<Overload>* overloads = find_operator(name);
  if (overloads == nullptr) throw no_operator(name);
  for (const Overload& overload : *overloads) {
    if (overload.takes(arguments)) return call(overload, arguments);
  }
  refuse_kinds(name, arguments, *overloads);
}

// Programs repeat the same call: each thread remembers the last one found, since the list never changes.
const std::vector<Overload>* find_operator(std::string_view name) {
  constinit thread_local const OperatorList::value_type* last = nullptr;
  if (last != nullptr && last->first == name) return &last->second.overloads;
  const OperatorList& list = operator_list();
  const auto found = list.find(name);
  if (found == list.end()) return nullptr;
  last = &*found;
  return &last->second.overloads;
}

std::vector<std::string> operator_names() {
  std::vector<std::string> names;
  for (const auto& [name, entry] : operator_list()) names.push_back(name);
  return names;
}

Error no_operator(std::string_view name) {
  return Error(ErrorKind::InvalidArgument, "AttributeError",
               "there is no operator named " + std::string(name.substr(0, kNameMost)) +
                   base::did_you_mean(name, operator_names()));
}

}  // namespace distrun::autograd
