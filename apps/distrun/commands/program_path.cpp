#include "program_path.hpp"

#include <cstdlib>

#include <distrun/runner/proc/find_program.hpp>

namespace distrun::cli {

std::string find_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  return proc::find_program(name, path == nullptr ? proc::kUsualPath : path);
}

}  // namespace distrun::cli
