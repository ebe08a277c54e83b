#pragma once
#include <string>

#include "help/command_info.hpp"

namespace distrun::cli {

// Returns a JSON schema (draft 2020-12) of settings files, by which editors complete and check them: a property for
// each option of `run` that a file may set. It is not stricter than distrun, which also checks the texts of values.
std::string config_schema(const CommandInfo& run);

}  // namespace distrun::cli
