#include <distrun/runner/proc/environment.hpp>

#include <unistd.h>

#include <algorithm>
#include <map>

namespace distrun::proc {

Variables own_environment() {
  Variables variables;
  for (char** entry = environ; *entry != nullptr; ++entry) variables.emplace_back(*entry);
  return variables;
}

Variables merged(std::initializer_list<const Variables*> lists) {
  std::map<std::string_view, const std::string*> by_name;
  for (const Variables* list : lists) {
    for (const std::string& variable : *list) by_name[name_of_variable(variable)] = &variable;
  }
  Variables result;
  for (const auto& [name, variable] : by_name) result.push_back(*variable);
  return result;
}

const char* find_variable(const Variables& variables, std::string_view name) {
  const auto found = std::find_if(variables.rbegin(), variables.rend(),
                                  [name](const std::string& variable) { return name_of_variable(variable) == name; });
  if (found == variables.rend() || found->size() == name.size()) return nullptr;
  return found->c_str() + name.size() + 1;
}

std::string_view name_of_variable(std::string_view variable) noexcept { return variable.substr(0, variable.find('=')); }

std::string host_name() {
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  return name;
}

}  // namespace distrun::proc
