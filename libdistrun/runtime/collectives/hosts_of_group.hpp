#pragma once
// On which hosts the ranks of a group run. A group may number its ranks in its own way, so they tell each other.
#include <string>
#include <vector>

#include <distrun/runtime/collectives/call.hpp>
#include <distrun/runtime/store/store.hpp>

namespace distrun::collectives {

// Returns the name of each rank's host, by group rank; nothing if the group is on one host. Where the test has several
// hosts (core/hosts.hpp), all ranks of the group must call it; elsewhere it does nothing. Throws what the store throws,
// and Error{Timeout} and base::PeerFailed naming the absent ranks.
std::vector<std::string> hosts_of_group(Store& store, const GroupInfo& group, base::TimePoint deadline);
// Throws Error{Unimplemented} if the group is on several hosts: "backend shm works within one host, but ...". `what`
// is "backend shm", `instead` what works there.
void refuse_several_hosts(const std::string& what, const std::string& instead, Store& store, const GroupInfo& group,
                          base::TimePoint deadline);
// Waits for keys in the group's store that its ranks write, one each, at most until the deadline. Throws as
// hosts_of_group().
void wait_for_ranks(Store& store, const GroupInfo& group, const std::vector<std::string>& keys,
                    base::TimePoint deadline);

}  // namespace distrun::collectives
