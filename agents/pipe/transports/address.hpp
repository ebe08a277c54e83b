#pragma once
// The address where a worker listens, as text for the records of other workers: "uds:NAME;tcp:HOST:PORT", either or
// both. NAME is in Linux's abstract namespace, so no file has to be removed; HOST is numeric, so no name has to be
// resolved. If the ranks of the test run on several hosts, "host:NAME;rank:NUMBER" follows, the worker's host
// (runtime/core/hosts.hpp) and rank: from other hosts only its TCP socket can be reached. "pid:NUMBER", the worker's
// process, may come last: a worker that cannot reach it can name its rank.
#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace distrun::agents::pipe {

enum class SocketKind : std::uint8_t { Uds, Tcp };
const char* name_of(SocketKind kind) noexcept;  // "uds"

// The address of one socket.
struct Place {
  SocketKind kind = SocketKind::Uds;
  std::string host;  // for Uds: the name
  std::uint16_t port = 0;

  friend bool operator==(const Place&, const Place&) = default;
};
std::string to_string(const Place& place);

using Address = std::vector<Place>;  // each kind once at most
std::string to_string(const Address& address);
// Returns the places that can be reached from this host. Throws Error{InvalidArgument} with the text, also if there are
// none.
Address parse_address(const std::string& text);

// Returns the name of the host in an address; empty: none.
std::string_view host_in(const std::string& address) noexcept;
// Returns the rank in an address; -1: none.
int rank_in(const std::string& address) noexcept;
// Returns whether the address is of another host than this one.
bool is_far(const std::string& address) noexcept;
// Returns the pid in an address; 0: none. Check it: the text comes from another process.
int pid_in(const std::string& address) noexcept;

// A place in the kernel's format.
struct SocketAddress {
  sockaddr_storage bytes{};
  socklen_t size = 0;

  const sockaddr* get() const noexcept { return reinterpret_cast<const sockaddr*>(&bytes); }
  sockaddr* get() noexcept { return reinterpret_cast<sockaddr*>(&bytes); }
};
// Throws Error{InvalidArgument} for a host that is not an IPv4 or IPv6 address, and for names that are too long.
SocketAddress socket_address(const Place& place);

}  // namespace distrun::agents::pipe
