#pragma once
// One question to another program and its answer, for commands that do nothing else meanwhile. Needs no loop.
#include <string>

#include <distrun/common/base/clock.hpp>
#include <distrun/common/base/fd.hpp>
#include <distrun/common/wire/frame.hpp>

namespace distrun::io {

inline constexpr auto kPatience = std::chrono::seconds(5);

// Connects to a Unix socket; waits at most `kPatience` while the listener's backlog is full. `size` is that of
// `address`, a sockaddr_un. Throws Error{Disconnected} if there is no listener, Error{Timeout}, or Error{Failed} if the
// listener belongs to another user. `who` names it in these errors: "run 3f9c".
base::Fd connect_to(const void* address, unsigned size, const std::string& who);

// Sends `question` and waits at most `patience` for the first frame. Throws Error{Timeout}, or Error{Disconnected}.
wire::Frame ask(int socket, const wire::Protocol& protocol, const wire::Bytes& question, const std::string& who,
                base::Nanoseconds patience = kPatience);

}  // namespace distrun::io
