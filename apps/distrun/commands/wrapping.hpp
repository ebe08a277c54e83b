#pragma once
// --wrap and --wrap-rank: the commands exist, and what they have written is kept. --core: the limit of core files.
#include <distrun/runner/record/record.hpp>

namespace distrun::cli {

// Throws Error{Failed} that names a command that does not exist, as for a program.
void require_wrappers(const runner::Settings& settings);

// Lets this process and all that it starts write core files. Throws Error{Failed} if the hard limit forbids that.
void raise_core_limit();

// Returns whether the ranks' directories are kept after the run: by --keep-work-dir, or for files in its record.
bool keeps_files(const runner::RunRecord& run);

}  // namespace distrun::cli
