#pragma once
// Packets with descriptors over a SEQPACKET socket: how the coordinator talks to listers and zygotes. No
// asio here, so that a zygote can use it.
#include <optional>
#include <span>
#include <vector>

#include <distrun/common/base/fd.hpp>
#include <distrun/common/wire/buffer.hpp>

struct msghdr;

namespace distrun::wire {

struct Packet {
  Bytes bytes;
  std::vector<base::Fd> fds;
};

// Throws Error: Disconnected if the peer is gone, Overloaded if the socket is full (non-blocking ones
// only) or the packet too large.
void send_packet(int socket, BytesView bytes, std::span<const int> fds = {});
// Empty when the peer has closed. Throws Error{Timeout} if a non-blocking socket has nothing, and as
// take_descriptors(): the packet is lost then.
std::optional<Packet> receive_packet(int socket);

// Owns the descriptors that came with a message, whose control buffer has room for `most`; to be called once for each.
// Throws Error{Overloaded} if this process could not take all, as it has too many open, with its limit;
// Error{InvalidArgument} if the peer has sent more than `most`. All that came are closed then.
std::vector<base::Fd> take_descriptors(msghdr& message, std::size_t most);

}  // namespace distrun::wire
