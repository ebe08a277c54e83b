#pragma once
// The process-group backends of the runtime, for listing tests. A room with a backend registers it while the library is
// loaded.
#include <array>
#include <string>
#include <vector>

namespace distrun::core {

struct Backend {
  std::string name;
  std::array<int, 3> version{};  // major, minor, patch; 0.0.0: unknown
};

// Call it before the plugin's tests are listed. A second call with the same name replaces the version. Any thread.
void add_backend(Backend backend);
std::vector<Backend> backends();

}  // namespace distrun::core
