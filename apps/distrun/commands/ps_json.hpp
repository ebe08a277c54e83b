#pragma once
// `distrun ps --json`.
#include <string>
#include <vector>

#include <distrun/common/wire/daemon.hpp>
#include <distrun/common/wire/inspect.hpp>

namespace distrun::cli {

std::string ps_json(const std::vector<wire::RunStatus>& running, const std::vector<wire::DaemonRun>& waiting);

}  // namespace distrun::cli
