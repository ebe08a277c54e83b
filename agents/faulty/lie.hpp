#pragma once
// Makes a message say something else than it did.
#include <cstdint>
#include <optional>
#include <string>

#include <distrun/runtime/rpc/message.hpp>

namespace distrun::agents::faulty {

struct Lie {
  std::size_t byte = 0;
  std::uint8_t before = 0;
  std::uint8_t after = 0;
  std::optional<bool> is_readable;  // as another value; nothing: unknown
};

// Another bit, which `drawn` chooses, in its payload; of a reply in its value. Nothing: there is no bit in it.
std::optional<Lie> lie(rpc::Message& message, std::uint64_t drawn);
// "byte 5 of 17 is 0xfc and was 0x7c: another value".
std::string describe(const Lie& lie, const rpc::Message& message);

}  // namespace distrun::agents::faulty
