#pragma once

namespace distrun::proc {

// Makes this process end with `exit_code` and a sentence when an allocation fails: an exception would need memory. The
// guard ends the processes that it has started.
void end_when_out_of_memory(int exit_code);

}  // namespace distrun::proc
