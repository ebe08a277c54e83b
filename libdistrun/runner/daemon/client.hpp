#pragma once
// A client of the daemon: connects, describes its submission and sends requests. Submitting a run: submitted_run.hpp.
#include <optional>
#include <string>
#include <vector>

#include <distrun/common/base/fd.hpp>
#include <distrun/common/wire/daemon.hpp>

namespace distrun::daemon {

// Throws Error{Disconnected} if no daemon listens there, with how to start one; Error{Timeout} if it does not answer;
// Error{Failed} if it belongs to another user.
base::Fd connect(const std::string& socket);

// Returns what this process would submit: `arguments` without the option for the daemon, the environment without
// DISTRUN_DAEMON (so that what a test starts stays with the test), and the umask. Call before any thread exists.
wire::Submission own_submission(const std::vector<std::string>& arguments);

// Both throw like connect(), and Error{Failed} with the daemon's reason if it refuses.
wire::DaemonStatus ask_status(const std::string& socket);
// `which`: an id, or "all".
wire::RunsCancelled cancel(const std::string& socket, const std::string& which);
// Returns nothing if there is no daemon.
std::optional<wire::DaemonStatus> find_status(const std::string& socket);

}  // namespace distrun::daemon
