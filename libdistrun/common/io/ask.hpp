#pragma once
// One question to another program and its answer, for commands that have nothing else to do meanwhile. No loop.
#include <string>

#include <distrun/common/base/clock.hpp>
#include <distrun/common/base/fd.hpp>
#include <distrun/common/wire/frame.hpp>

namespace distrun::io {

inline constexpr auto kPatience = std::chrono::seconds(5);

// Connects to a Unix socket; does not wait for more than `kPatience` if the listener has no place for another. `size`
// is that of `address`, a sockaddr_un. Throws Error{Disconnected} if nobody listens, Error{Timeout}, or Error{Failed}
// if the listener is another user's. `who` is its name in these: "run 3f9c".
base::Fd connect_to(const void* address, unsigned size, const std::string& who);

// Sends `question` and waits `kPatience` at most for the first frame that comes. Throws Error{Timeout}, or
// Error{Disconnected} if there is no answer.
wire::Frame ask(int socket, const wire::Protocol& protocol, const wire::Bytes& question, const std::string& who);

}  // namespace distrun::io
