#pragma once
// Philox4x32-10 (Salmon, Moraes, Dror, Shaw 2011): random bits as a function of a key and a counter. Being stateless,
// any part of a sequence can be computed separately, and it is the same on every device.
#include <array>
#include <cstdint>

namespace distrun::tensor {

// Returns the four words of block `counter` of the sequence `key`.
inline std::array<std::uint32_t, 4> philox(std::uint64_t key, std::uint64_t counter_low, std::uint64_t counter_high) {
  std::array<std::uint32_t, 4> c{static_cast<std::uint32_t>(counter_low), static_cast<std::uint32_t>(counter_low >> 32),
                                 static_cast<std::uint32_t>(counter_high),
                                 static_cast<std::uint32_t>(counter_high >> 32)};
  auto key_low = static_cast<std::uint32_t>(key), key_high = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53} * c[0], b = std::uint64_t{0xCD9E8D57} * c[2];
    c = {static_cast<std::uint32_t>(b >> 32) ^ c[1] ^ key_low, static_cast<std::uint32_t>(b),
         static_cast<std::uint32_t>(a >> 32) ^ c[3] ^ key_high, static_cast<std::uint32_t>(a)};
    key_low += 0x9E3779B9;
    key_high += 0xBB67AE85;
  }
  return c;
}

}  // namespace distrun::tensor
