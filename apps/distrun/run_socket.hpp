#pragma once
// The sockets by which runs are found: abstract names that hold the user and the run, both ends of the same user.
#include <string>
#include <vector>

#include <distrun/base/fd.hpp>
#include <distrun/wire/inspect.hpp>

namespace distrun::cli {

// Nonblocking. Throws Error{Failed}.
base::Fd listen_for(const std::string& run_id);
// Whether the process at the other end is this user's, or root's.
bool is_trusted(int socket);

// Ids of the runs of this user that go on, sorted.
std::vector<std::string> running_ids();
// Asks a run, and waits for its answer for 5 s at most. Throws Error{Failed} if it does not give one.
wire::RunStatus ask_status(const std::string& run_id);
// `rank` -1: all.
wire::ToldStacks ask_stacks(const std::string& run_id, int rank);
// The run that a user means: by the start of its id, or the only one that goes on. Throws Error{InvalidArgument} with
// the choice if there is none or more than one.
std::string find_run(const std::string& wanted);

}  // namespace distrun::cli
