#pragma once
// Collectives over RPC, of all workers or of a named set. The workers of a set meet in the order of their calls. The
// one with the smallest name is the leader: it gathers the objects of the others and sends them the result.
#include <map>
#include <optional>
#include <set>
#include <string>

#include <distrun/runtime/rpc/values/value.hpp>

namespace distrun::rpc {

// Returns the object of each worker by its name. `timeout` limits the whole operation, in seconds. Without it, a
// follower's exchange has the timeout of a call, and the leader waits for the followers without a limit. Throws
// Error{Timeout}: on a follower "RPC ran for more than ...", on the leader "Followers [...] timed out in _all_gather
// after 0.10 seconds. ...", with the first of the followers' errors. After any error the meeting has failed, and the
// workers can begin the next one; only after std::bad_alloc this worker has not begun the meeting, and can repeat it.
std::map<std::string, Value> all_gather(const Value& object, std::optional<std::set<std::string>> names = {},
                                        std::optional<double> timeout = {},
                                        base::Location site = base::Location::here());
// Blocks until all named workers have called it.
void barrier(const std::set<std::string>& names, base::Location site = base::Location::here());
// Blocks until all workers have called it, and serves calls meanwhile. May be called any number of times.
void wait_all_workers(double timeout = 0, base::Location site = base::Location::here());

}  // namespace distrun::rpc
