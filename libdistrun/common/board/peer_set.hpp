#pragma once
// A set of ranks of fixed size: those of the largest test.
#include <array>
#include <cstddef>
#include <cstdint>

namespace distrun::board {

inline constexpr int kPeersMax = 1024;  // ranks that a set can name; others are "some"

// A value; starts empty.
struct PeerSet {
  std::array<std::uint64_t, kPeersMax / 64> bits{};  // rank r is bit r % 64 of word r / 64

  // Adds a rank. Ignores ranks that a set cannot name.
  void add(int rank) noexcept {
    if (rank >= 0 && rank < kPeersMax) bits[static_cast<std::size_t>(rank) / 64] |= std::uint64_t{1} << (rank % 64);
  }
  // Adds the ranks of another set.
  void add(const PeerSet& others) noexcept {
    for (std::size_t i = 0; i < bits.size(); ++i) bits[i] |= others.bits[i];
  }
  // Returns false for ranks that a set cannot name.
  bool has(int rank) const noexcept {
    return rank >= 0 && rank < kPeersMax && (bits[static_cast<std::size_t>(rank) / 64] >> (rank % 64) & 1) != 0;
  }
  // Returns how many words there are up to the last one with a rank.
  std::size_t used_words() const noexcept {
    std::size_t used = bits.size();
    while (used > 0 && bits[used - 1] == 0) --used;
    return used;
  }
  // Returns whether it has no rank.
  bool empty() const noexcept { return bits == decltype(bits){}; }
};

}  // namespace distrun::board
