#pragma once
// What waits for keys show, and say when they end without them.
#include <string>
#include <vector>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/core/wait.hpp>
#include <distrun/runtime/store/request.hpp>

namespace distrun::stores {

// Shows the first of the keys, and who is to write them (awaited_ranks.hpp); `name` is kept by the caller while the
// wait lasts.
board::WaitInfo wait_for(const Request& request, std::string& name, base::Location site);

// Returns a timeout as the caller gave it: "300 s".
std::string human_timeout(base::Nanoseconds timeout);
// Returns Error{Timeout, "DistStoreError"}: "wait timeout after 100 ms, keys: a, b".
Error timeout_error(base::Nanoseconds timeout, const std::vector<std::string>& missing, base::Location site);

}  // namespace distrun::stores
