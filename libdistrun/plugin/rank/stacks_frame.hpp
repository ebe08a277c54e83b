#pragma once
// The answer to a request for stacks: a dump, encoded as a frame with wire::RawStacks without allocating, since another
// thread may hang within malloc.
#include <cstddef>
#include <cstdint>
#include <span>

#include <distrun/common/board/dump_area.hpp>

namespace distrun::rank {

// The size of the largest dump.
inline constexpr std::size_t kStacksFrameMax =
    64 + board::kDumpModulesMax * (16 + sizeof(board::DumpModule::path)) +
    board::kDumpThreadsMax * (128 + board::kDumpPcsMax * sizeof(std::uint64_t));

// Returns header and payload, in `room`. The dump must be over. Async-signal-safe.
std::span<const std::byte> encode_stacks(const board::DumpArea& area, std::uint16_t rank,
                                         std::span<std::byte, kStacksFrameMax> room) noexcept;

// Dumps all stacks of this process and encodes them, in memory that the next call reuses. One thread at a time.
std::span<const std::byte> answer_with_stacks(std::uint16_t rank) noexcept;

}  // namespace distrun::rank
