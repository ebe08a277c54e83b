#pragma once
// A file whose name all ranks know.
#include <string>

#include <distrun/common/base/location.hpp>
#include <distrun/plugin/sdk/context.hpp>

namespace distrun {

// To be called by every rank, as often by each: rank 0 makes an empty file, and all get its path. It lies in
// Rank::temp_dir(), so it is removed after the attempt, when no rank can use it any more. Throws as Rank::receive
// does, and Error{Failed} if the file cannot be made.
std::string make_shared_file(Rank& rank, base::Location where = base::Location::here());

}  // namespace distrun
