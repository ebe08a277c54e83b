#pragma once
// Asks the kernel about a TCP connection's peer: whether its host still answers, even if its process does not.
#include <cstdint>
#include <optional>
#include <string>

#include <distrun/common/base/clock.hpp>

namespace distrun::nodes {

struct TcpState {
  std::uint64_t received = 0;       // bytes of data that have arrived, read or not
  bool expects_answer = false;      // there is data that the peer's host has not confirmed, but could
  base::Nanoseconds since_heard{};  // since the last data or confirmation arrived
};

// Returns nothing if the kernel does not tell.
std::optional<TcpState> tcp_state_of(int socket) noexcept;

// Return the numeric address of an end of a connected socket, without its port: "10.77.1.2", "::1".
std::string local_address_of(int socket);
std::string peer_address_of(int socket);

}  // namespace distrun::nodes
