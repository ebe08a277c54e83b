#pragma once
// By what people tell running runs apart: what was typed, where and when.
#include <string>

#include <distrun/common/wire/daemon.hpp>
#include <distrun/common/wire/inspect.hpp>

namespace distrun::cli {

// "distrun -w 4 ring.so"; long ones are cut.
std::string command_text(const wire::RunStatus& run);
// "started 12.3 s ago in /srv/project, with ring.so". Plugins are named if the command does not name them.
std::string origin_text(const wire::RunStatus& run);
// The command and the directory of a run that the daemon has: "distrun ring.so (submitted in /srv/project)".
std::string waiting_text(const wire::DaemonRun& run);

}  // namespace distrun::cli
