#pragma once
// Constants of the message format (message_stream.hpp), shared by the writing and the reading code.
#include <cstddef>
#include <cstdint>

#include <distrun/runtime/rpc/message.hpp>

namespace distrun::agents::pipe {

inline constexpr std::uint8_t kInStream = 0, kInPeer = 1;  // where the memory of a stretch is
inline constexpr std::uint8_t kContiguous = 1;
inline constexpr std::size_t kSectionsMax = 32;

// A section of the pipe: a time of the machine's clock. Memory read out of the sender later may have changed.
inline constexpr auto kKeptUntil = static_cast<rpc::SectionTag>(128);

}  // namespace distrun::agents::pipe
