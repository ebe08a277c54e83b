#pragma once
// A client of the daemon: how it is found, what it sends, and the questions that it asks. Submitting a run and staying
// with it: submitted_run.hpp.
#include <optional>
#include <string>
#include <vector>

#include <distrun/common/base/fd.hpp>
#include <distrun/common/wire/daemon.hpp>

namespace distrun::daemon {

// Throws Error{Disconnected} if no daemon listens there, with how to start one; Error{Timeout} if it does not answer;
// Error{Failed} if it is another user's.
base::Fd connect(const std::string& socket);

// What this process would hand over: `arguments` without what asks for the daemon, its environment without
// DISTRUN_DAEMON, so that what a test starts stays with the test, and its umask. Before any thread exists.
wire::Submission own_submission(const std::vector<std::string>& arguments);

// Throw as connect() does, and Error{Failed} with the daemon's words if it refuses.
wire::DaemonStatus ask_status(const std::string& socket);
// `which`: an id, or "all".
wire::RunsCancelled cancel(const std::string& socket, const std::string& which);
// Nothing if there is no daemon.
std::optional<wire::DaemonStatus> find_status(const std::string& socket);

}  // namespace distrun::daemon
