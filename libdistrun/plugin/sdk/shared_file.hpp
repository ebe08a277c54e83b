#pragma once
// A file that all ranks know by its path.
#include <string>

#include <distrun/common/base/location.hpp>
#include <distrun/plugin/sdk/context.hpp>

namespace distrun {

// Creates an empty file on rank 0 and returns its path on all ranks. Every rank must call it the same number of times.
// The file is in Rank::temp_dir(), so it is removed after the attempt. Throws like Rank::receive, and Error{Failed} if
// the file cannot be created.
std::string make_shared_file(Rank& rank, base::Location where = base::Location::here());

}  // namespace distrun
