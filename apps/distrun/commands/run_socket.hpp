#pragma once
// The sockets by which runs are found: abstract names with the user and the run; both ends belong to the same user.
#include <string>
#include <vector>

#include <distrun/common/base/fd.hpp>
#include <distrun/common/wire/inspect.hpp>

namespace distrun::cli {

// Nonblocking. Throws Error{Failed}.
base::Fd listen_for(const std::string& run_id);

// Returns the ids of this user's running runs, sorted.
std::vector<std::string> running_ids();
// Asks a run and waits at most 5 s for its answer. Throws Error{Failed} without an answer.
wire::RunStatus ask_status(const std::string& run_id);
// `rank` -1: all.
wire::ToldStacks ask_stacks(const std::string& run_id, int rank);
// Takes two snapshots of the run, so it waits longer for the answer: at most 15 s.
wire::ToldExamination ask_examination(const std::string& run_id, bool with_json);
// Ends the run gracefully, like one Ctrl-C. Throws like ask_status().
wire::RunStatus cancel_run(const std::string& run_id);
// Returns the run that a user names by the start of its id, or the only one that is running. Throws
// Error{InvalidArgument} with the choices if that is not unique. `more`: ids of further runs, such as queued ones.
std::string find_run(const std::string& wanted, const std::vector<std::string>& more = {});

}  // namespace distrun::cli
