#pragma once
// The groups of a rank: the default group, with all ranks of a test, and the groups created from it. When a test ends,
// its rank leaves the groups that are still open, and ranks that wait for it are notified. Groups opened by a suite's
// set-up stay open until the rank has run the suite's last test.
//
// The functions apply to the rank that the calling thread works for. Any thread, one at a time.
#include <memory>
#include <optional>
#include <vector>

#include <distrun/runtime/collectives/process_group.hpp>

namespace distrun::core {
class RankState;  // rank_state.hpp
}

namespace distrun::collectives {

// Options of init_process_group().
struct WorldOptions {
  std::shared_ptr<Store> store;  // where the ranks meet; not null
  int rank = 0;                  // of this process; 0 .. world_size - 1
  int world_size = 1;            // the same on all ranks
  GroupOptions group;            // the same on all ranks
};

// Creates the default group, "world", and returns when all ranks have joined. Throws Error{Failed} if there is one, and
// what ProcessGroup's constructor throws.
std::shared_ptr<ProcessGroup> init_process_group(const WorldOptions& options,
                                                 base::Location site = base::Location::here());
bool is_initialized();  // has a default group
// Throws Error{Failed} if there is no default group, or if it belongs to the process from which this one was forked; a
// forked process cannot create one.
std::shared_ptr<ProcessGroup> default_group(base::Location site = base::Location::here());
// Leaves the default group and all groups created from it; a new one may be created then.
void destroy_process_group();

// Creates a group of some ranks of another group, given by their group ranks, in that order. All ranks of that group
// call it with the same ranks and in the same order of calls; ranks that are not members get null at once. `options`
// defaults to those of the other group. Throws Error{InvalidArgument, "ValueError"} for ranks that are out of range or
// listed twice, and if the ranks disagree.
std::shared_ptr<ProcessGroup> new_group(const std::vector<int>& places, ProcessGroup& of,
                                        std::optional<GroupOptions> options = {},
                                        base::Location site = base::Location::here());
std::shared_ptr<ProcessGroup> new_group(const std::vector<int>& places, std::optional<GroupOptions> options = {},
                                        base::Location site = base::Location::here());
// Creates one group per colour, ordered by `key` and then by group rank; returns null for a colour below 0.
std::shared_ptr<ProcessGroup> split(ProcessGroup& of, int colour, int key = 0, std::optional<GroupOptions> options = {},
                                    base::Location site = base::Location::here());

// Called at the end of a test. Kept groups stay open, after waiting for the calls that the test started on them.
void leave_groups(core::RankState& rank);
// Keeps the currently open groups until release_groups().
void keep_groups(core::RankState& rank);
// Leaves the kept groups.
void release_groups(core::RankState& rank);

}  // namespace distrun::collectives
