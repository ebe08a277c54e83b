#pragma once
// The groups of a rank: the default one, in which all ranks of a test are, and those that are made of it. Whoever is
// still in a group when its test ends leaves it then, and ranks that wait for it are told. Groups that a suite's
// set-up has opened stay open until the suite's last test on the rank is over.
//
// Of the rank whose work the calling thread does. Any thread, one at a time.
#include <memory>
#include <optional>
#include <vector>

#include <distrun/runtime/collectives/process_group.hpp>

namespace distrun::core {
class RankState;  // rank_state.hpp
}

namespace distrun::collectives {

struct WorldOptions {
  std::shared_ptr<Store> store;
  int rank = 0;
  int world_size = 1;
  GroupOptions group;
};

// Makes the default group, "world", and returns when all ranks are in it. Throws Error{Failed} if there is one, and
// what ProcessGroup's constructor throws.
std::shared_ptr<ProcessGroup> init_process_group(const WorldOptions& options,
                                                 base::Location site = base::Location::here());
bool is_initialized();
// Throws Error{Failed} if there is none, and if it is that of the process from which this one was forked, which has
// none then, and can make none.
std::shared_ptr<ProcessGroup> default_group(base::Location site = base::Location::here());
// The rank leaves it, and all of its groups; there may be another one then.
void destroy_process_group();

// A group of some ranks of another one, by their places there, in that order: all ranks of that one call it, with the
// same ranks and in the same order of calls; those that are not in it get null at once. It has the options of the other
// one unless there are some. Throws Error{InvalidArgument, "ValueError"} for places that are not there, or twice, and
// if ranks do not agree.
std::shared_ptr<ProcessGroup> new_group(const std::vector<int>& places, ProcessGroup& of,
                                        std::optional<GroupOptions> options = {},
                                        base::Location site = base::Location::here());
std::shared_ptr<ProcessGroup> new_group(const std::vector<int>& places, std::optional<GroupOptions> options = {},
                                        base::Location site = base::Location::here());
// Groups of those with the same colour, ordered by `key` and then by place; null for a colour below 0.
std::shared_ptr<ProcessGroup> split(ProcessGroup& of, int colour, int key = 0, std::optional<GroupOptions> options = {},
                                    base::Location site = base::Location::here());

// At the end of a test. Kept groups stay open: calls that the test has started on them are waited for.
void leave_groups(core::RankState& rank);
// Keeps the groups that are open now, until release_groups().
void keep_groups(core::RankState& rank);
void release_groups(core::RankState& rank);

}  // namespace distrun::collectives
