#pragma once
// Constants of the format of messages (message_stream.hpp), for the code that writes and the code that reads it.
#include <cstddef>
#include <cstdint>

#include <distrun/runtime/rpc/message.hpp>

namespace distrun::agents::pipe {

inline constexpr std::uint8_t kInStream = 0, kInPeer = 1;  // where the memory of a stretch is
inline constexpr std::uint8_t kContiguous = 1;
inline constexpr std::size_t kSectionsMax = 32;

// A section of the pipe's own: a time of the sender's clock, which is that of its machine. Memory that is read out of
// the sender later than that may have been changed.
inline constexpr auto kKeptUntil = static_cast<rpc::SectionTag>(128);

}  // namespace distrun::agents::pipe
