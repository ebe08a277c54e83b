#include <distrun/sdk/environment.hpp>

#include <cstdlib>

#include <distrun/base/error.hpp>

namespace distrun {
namespace {

void apply(const Variable& variable) {
  if (variable.value) {
    ::setenv(variable.name.c_str(), variable.value->c_str(), 1);
  } else {
    ::unsetenv(variable.name.c_str());
  }
}

Variable current(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return {name, value != nullptr ? std::optional<std::string>(value) : std::nullopt};
}

}  // namespace

EnvironmentScope::EnvironmentScope(std::initializer_list<Variable> variables) {
  for (const Variable& variable : variables) {
    if (variable.name.empty() || variable.name.find('=') != std::string::npos) {
      throw Error(ErrorKind::InvalidArgument, "'" + variable.name + "' cannot be the name of a variable");
    }
  }
  for (const Variable& variable : variables) {
    before_.push_back(current(variable.name));
    apply(variable);
  }
}

EnvironmentScope::~EnvironmentScope() {
  for (; !before_.empty(); before_.pop_back()) apply(before_.back());  // the last first: a name may be there twice
}

}  // namespace distrun
