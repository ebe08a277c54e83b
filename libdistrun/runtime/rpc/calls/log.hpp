#pragma once
// Writes messages to a worker's stderr about failed calls of other workers.
#include <string_view>

namespace distrun::rpc {

// Writes the text without blocking: the calling thread may be the one that reads messages, and stderr may be a pipe
// without a reader. Texts that do not fit are left out, and their number is written as soon as there is room again.
// Texts of up to PIPE_BUF bytes are written in one piece, so that ranks that share a terminal do not mix their lines.
// Thread-safe.
void log(std::string_view text) noexcept;

}  // namespace distrun::rpc
