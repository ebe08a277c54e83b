#pragma once
// By what key workers that meet (meetings.hpp) know their group: their names in order, each with its incarnation if it
// is not the first under its id: "worker0, worker1#2". So the rounds of a group begin anew when a worker in it is
// another.
#include <map>
#include <set>
#include <string>
#include <string_view>

#include <distrun/common/base/location.hpp>
#include <distrun/runtime/rpc/worker_info.hpp>

namespace distrun::rpc {

class Calls;

using WorkerKeys = std::map<std::string, WorkerKey>;  // by name

// Throws what Calls::resolve() throws.
WorkerKeys keys_of(const Calls& calls, const std::set<std::string>& names, base::Location site);
std::string join(const std::set<std::string>& names);  // "worker0, worker1"
std::string key_of(const WorkerKeys& workers);
// Whether the key names an earlier worker of that name.
bool names_earlier(std::string_view key, const WorkerInfo& worker);

}  // namespace distrun::rpc
