#pragma once
// Collectives over RPC: of all workers, or of some that are named. Workers of the same names meet in the order of their
// calls; the one with the smallest name is the leader, to which the others send theirs and who tells them all.
#include <map>
#include <optional>
#include <set>
#include <string>

#include <distrun/runtime/rpc/values/value.hpp>

namespace distrun::rpc {

// The object of each worker by its name. `timeout` in seconds bounds all of it; none: what the followers send and get
// has the timeout of a call, and the leader waits for them without a limit. Throws Error{Timeout}: of a follower "RPC
// ran for more than ...", of the leader "Followers [...] timed out in _all_gather after 0.10 seconds. ...", with the
// first of their errors.
std::map<std::string, Value> all_gather(const Value& object, std::optional<std::set<std::string>> names = {},
                                        std::optional<double> timeout = {},
                                        base::Location site = base::Location::here());
// Returns when all of them are in it.
void barrier(const std::set<std::string>& names, base::Location site = base::Location::here());
// Returns when all workers call it; until then calls are served. As often as you like.
void wait_all_workers(double timeout = 0, base::Location site = base::Location::here());

}  // namespace distrun::rpc
