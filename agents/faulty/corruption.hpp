#pragma once
// Corrupts messages for the fault "corrupt": flips one bit.
#include <cstdint>
#include <optional>
#include <string>

#include <distrun/runtime/rpc/message.hpp>

namespace distrun::agents::faulty {

struct Corruption {
  std::size_t byte = 0;
  std::uint8_t before = 0;
  std::uint8_t after = 0;
  std::optional<bool> is_readable;  // whether the message still decodes, to another value; nullopt: unknown
};

// Flips the bit of the payload, or of a reply's value, that `drawn` chooses. Returns nullopt if there is no bit.
std::optional<Corruption> corrupt(rpc::Message& message, std::uint64_t drawn);
// Returns for example "byte 5 of 17 is 0xfc and was 0x7c: another value".
std::string describe(const Corruption& corruption, const rpc::Message& message);

}  // namespace distrun::agents::faulty
