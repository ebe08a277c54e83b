#pragma once

namespace distrun::proc {

// From now on this process ends with `exit_code` and a sentence when it gets no more memory: an exception would need
// some. What it has started is its guard's to end.
void end_when_out_of_memory(int exit_code);

}  // namespace distrun::proc
