#pragma once
// Detects a network (EFA) for which the tools report more than agents can use there.
#include <optional>
#include <string>
#include <vector>

namespace distrun::suites {

// Returns whether `program -p efa -t FI_EP_RDM` succeeds; false if the program does not exist.
bool probe_efa(const std::string& program);
// Asks fi_info once per process.
bool has_efa();

// Return transports for RPC options: shared memory and TCP ("uv") if `efa`; nullopt: all.
std::optional<std::vector<std::string>> transports_with(bool efa);
std::optional<std::vector<std::string>> tp_transports();

}  // namespace distrun::suites
