#pragma once
// Packets with descriptors over a SEQPACKET socket, between the coordinator and listers or zygotes. Without asio, for
// the zygote.
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

// Throws Error: Disconnected if the peer is gone, Overloaded if the socket is full (non-blocking only) or the packet
// too large.
void send_packet(int socket, BytesView bytes, std::span<const int> fds = {});
// Returns nullopt if the peer has closed. Throws Error{Timeout} if a non-blocking socket has no packet, and errors of
// take_descriptors(); then the packet is lost.
std::optional<Packet> receive_packet(int socket);

// Takes ownership of the descriptors of a message with a control buffer for `most`; call it once per message.
// Throws Error{Overloaded} with the limit if this process has too many open descriptors to receive all, or
// Error{InvalidArgument} if the peer sent more than `most`; both close all that arrived.
std::vector<base::Fd> take_descriptors(msghdr& message, std::size_t most);

}  // namespace distrun::wire
