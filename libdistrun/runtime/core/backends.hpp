#pragma once
// Which process-group backends the runtime has, for whoever lists tests. A room that has one says so while the library
// is loaded.
#include <array>
#include <string>
#include <vector>

namespace distrun::core {

struct Backend {
  std::string name;
  std::array<int, 3> version{};  // major, minor, patch; 0.0.0: it has none
};

// Before the plugin's tests are listed. Again for the same name replaces the version. Any thread.
void add_backend(Backend backend);
std::vector<Backend> backends();

}  // namespace distrun::core
