#pragma once
// Texts by which users recognise a run: its command, place and time.
#include <string>

#include <distrun/common/wire/daemon.hpp>
#include <distrun/common/wire/inspect.hpp>

namespace distrun::cli {

// Returns "distrun -w 4 ring.so"; cut if too long.
std::string command_text(const wire::RunStatus& run);
// Returns "started 12.3 s ago in /srv/project, with ring.so". Names the plugins if the command does not.
std::string origin_text(const wire::RunStatus& run);
// Returns the command and directory of a run of the daemon: "distrun ring.so (submitted in /srv/project)".
std::string waiting_text(const wire::DaemonRun& run);

}  // namespace distrun::cli
