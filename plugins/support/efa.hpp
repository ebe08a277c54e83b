#pragma once
// Whether the machine has a network whose tools promise more than agents can use there.
#include <optional>
#include <string>
#include <vector>

namespace distrun::suites {

// Whether `program -p efa -t FI_EP_RDM` ends well; false, too, where there is no such program.
bool probe_efa(const std::string& program);
// What fi_info says, the first time that it is asked in this process.
bool has_efa();

// Of RPC options: shared memory and TCP ("uv") if `efa`; nothing: all that there are.
std::optional<std::vector<std::string>> transports_with(bool efa);
std::optional<std::vector<std::string>> tp_transports();

}  // namespace distrun::suites
