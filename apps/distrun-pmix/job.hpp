#pragma once
// The description of the ranks that libpmix gives to each of them: how many there are, and where each one is.
#include <distrun/common/wire/mpi.hpp>

#include "host.hpp"

namespace distrun::pmix {

// Starts libpmix's server and registers the job. Returns what ranks need in their environment. Throws Error{Failed}
// with the call that has failed, and what libpmix says.
wire::MpiReady register_job(const wire::MpiOrder& order, Host& host);

}  // namespace distrun::pmix
