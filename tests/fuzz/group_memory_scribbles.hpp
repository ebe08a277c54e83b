#pragma once
// Builds instructions for group_memory_fuzz.cpp, by which a rank overwrites its group's memory: structure, position in
// it, number of bytes, and bytes.
#include <array>
#include <cstddef>
#include <cstring>
#include <map>
#include <string>

#include <distrun/common/wire/buffer.hpp>
#include <distrun/runtime/collectives/shm/layout.hpp>

namespace distrun::fuzz {

class Scribbles {
 public:
  static constexpr std::uint8_t kSeat = 0, kSlotHeader = 1 + 8, kPart = 2 + 8, kBox = 3, kMessage = 4, kReads = 5,
                                kOwnBox = 6, kOwnSeat = 7;

  template <class Value>
  Scribbles& add(std::uint8_t which, std::size_t at, const Value& value) {
    for (const std::size_t byte : {std::size_t{which}, at & 255U, at >> 8, sizeof value}) {
      bytes.push_back(std::byte(byte));
    }
    const auto* const begin = reinterpret_cast<const std::byte*>(&value);
    bytes.insert(bytes.end(), begin, begin + sizeof value);
    return *this;
  }

  wire::Bytes bytes;
};

inline wire::Bytes large_letter(collectives::shm::Carriage carriage) {
  using collectives::shm::MessageHeader;
  const std::uint64_t offered = 5, size = 100'000;
  return Scribbles()
      .add(Scribbles::kReads, 0, offered)
      .add(Scribbles::kMessage, offsetof(MessageHeader, read_word), offered)
      .add(Scribbles::kMessage, offsetof(MessageHeader, size), size)
      .add(Scribbles::kMessage, offsetof(MessageHeader, carriage), carriage)
      .bytes;
}

inline std::map<std::string, wire::Bytes> group_memory_scribbles() {
  using namespace collectives::shm;
  using S = Scribbles;
  const std::uint64_t far = ~std::uint64_t{4095};
  const std::array<char, 48> escape{'\x1b', '['};
  const auto letter_of = [](std::uint64_t size) {
    return S().add(S::kMessage, offsetof(MessageHeader, size), size).bytes;
  };
  return {
      {"nothing", S().bytes},
      {"part_outside", S().add(S::kPart, 0, far).bytes},
      {"part_too_large", S().add(S::kPart, 8, far).bytes},
      {"address", S().add(S::kPart, 0, std::uint64_t{16})
                      .add(S::kSlotHeader, offsetof(SlotHeader, in_place), std::uint8_t{7})
                      .bytes},
      {"card", S().add(S::kSlotHeader, offsetof(SlotHeader, kind), far)
                   .add(S::kSlotHeader, offsetof(SlotHeader, sizes), far)
                   .bytes},
      {"file", S().add(S::kSlotHeader, 0, far).add(S::kSlotHeader, offsetof(SlotHeader, file), escape).bytes},
      {"written", S().add(S::kBox, 0, far).bytes},
      {"taken", S().add(S::kOwnBox, offsetof(MailBox, taken), far).bytes},
      {"letter_too_large", letter_of(100'000)},
      {"letter_of_8k", letter_of(kLetterRoom)},
      {"letter_kinds", S().add(S::kMessage, offsetof(MessageHeader, dtype), far).bytes},
      {"fetched", large_letter(Carriage::Fetched)},
      {"shared", large_letter(Carriage::Shared)},
      {"gone", S().add(S::kSeat, offsetof(Seat, presence), Presence::GaveUp)
                   .add(S::kSeat, offsetof(Seat, why), far)
                   .add(S::kSeat, 0, std::uint64_t{0})
                   .bytes},
      {"own_seat", S().add(S::kOwnSeat, 0, far).add(S::kOwnSeat, offsetof(Seat, presence), Presence::Left).bytes},
  };
}

}  // namespace distrun::fuzz
