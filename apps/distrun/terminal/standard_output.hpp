#pragma once
// Output of commands by the C library, or by std::cout, which writes through it.

namespace distrun::cli {

// Flushes it and returns `code`. If something could not be written, prints an error on stderr and returns kInfraError
// (or keeps kInterrupted). A reader that has closed the pipe is not an error.
int with_output_written(int code);

}  // namespace distrun::cli
