#pragma once
// The sockets by which runs are found: abstract names that hold the user and the run, both ends of the same user.
#include <string>
#include <vector>

#include <distrun/common/base/fd.hpp>
#include <distrun/common/wire/inspect.hpp>

namespace distrun::cli {

// Nonblocking. Throws Error{Failed}.
base::Fd listen_for(const std::string& run_id);

// Ids of the runs of this user that go on, sorted.
std::vector<std::string> running_ids();
// Asks a run, and waits for its answer for 5 s at most. Throws Error{Failed} if it does not give one.
wire::RunStatus ask_status(const std::string& run_id);
// `rank` -1: all.
wire::ToldStacks ask_stacks(const std::string& run_id, int rank);
// Ends it politely, as one Ctrl-C does. Throws as ask_status().
wire::RunStatus cancel_run(const std::string& run_id);
// The run that a user means: by the start of its id, or the only one that goes on. Throws Error{InvalidArgument} with
// the choice if there is none or more than one. `more`: ids of others that may be meant, of runs that wait.
std::string find_run(const std::string& wanted, const std::vector<std::string>& more = {});

}  // namespace distrun::cli
