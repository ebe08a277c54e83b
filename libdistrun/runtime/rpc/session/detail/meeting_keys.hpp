#pragma once
// The key of a group of workers that meet (meetings.hpp): their names in order, each with its incarnation if that is
// not the first: "worker0, worker1#2". If another worker takes a place in the group, the key changes, and rounds start
// at 0.
#include <map>
#include <set>
#include <string>
#include <string_view>

#include <distrun/common/base/location.hpp>
#include <distrun/runtime/rpc/worker_info.hpp>

namespace distrun::rpc {

class Calls;

using WorkerKeys = std::map<std::string, WorkerKey>;  // by name

// Throws what KnownWorkers::resolve() throws.
WorkerKeys keys_of(const Calls& calls, const std::set<std::string>& names, base::Location site);
std::string join(const std::set<std::string>& names);  // "worker0, worker1"
std::string key_of(const WorkerKeys& workers);
// Returns whether the key names an earlier worker of that name.
bool names_earlier(std::string_view key, const WorkerInfo& worker);

}  // namespace distrun::rpc
