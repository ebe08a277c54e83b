#pragma once
// What commands print by the C library, or by std::cout, which writes through it.

namespace distrun::cli {

// Flushes it. `code`, unless something could not be written: then a sentence goes to standard error, and the code is
// kInfraError, or stays kInterrupted. A reader that has gone has seen enough, and changes nothing.
int with_output_written(int code);

}  // namespace distrun::cli
