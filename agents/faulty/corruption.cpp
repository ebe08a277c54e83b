#include <agents/faulty/corruption.hpp>

#include <cstdio>

#include <distrun/runtime/rpc/calls/call_codec.hpp>

namespace distrun::agents::faulty {
namespace {

constexpr std::size_t kReplyHead = 1;  // the first byte tells what the value may contain

// Returns nullopt if reading the message would run code of a plugin's classes.
std::optional<bool> is_readable(const rpc::Message& message) {
  if (message.kind != rpc::MessageKind::Reply || !rpc::is_plain(message)) return std::nullopt;
  try {
    rpc::read_reply(message);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace

std::optional<Corruption> corrupt(rpc::Message& message, std::uint64_t drawn) {
  const std::size_t first = message.kind == rpc::MessageKind::Reply ? kReplyHead : 0;
  if (message.payload.size() <= first) return std::nullopt;
  Corruption told;
  told.byte = first + drawn / 8 % (message.payload.size() - first);
  std::byte& byte = message.payload[told.byte];
  told.before = static_cast<std::uint8_t>(byte);
  byte ^= std::byte{1} << (drawn % 8);
  told.after = static_cast<std::uint8_t>(byte);
  told.is_readable = is_readable(message);
  return told;
}

std::string describe(const Corruption& corruption, const rpc::Message& message) {
  char text[96];
  std::snprintf(text, sizeof text, "byte %zu of %zu is 0x%02x and was 0x%02x", corruption.byte, message.payload.size(),
                static_cast<unsigned>(corruption.after), static_cast<unsigned>(corruption.before));
  if (!corruption.is_readable) return text;
  return std::string(text) + (*corruption.is_readable ? ": another value" : ": no value");
}

}  // namespace distrun::agents::faulty
