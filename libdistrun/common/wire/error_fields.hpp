#pragma once
// An error in a message: the fields that each message with an error has, in wire order. Messages that also have its
// place, context or cause write them separately (runtime/rpc/calls/error_codec.hpp).
#include <cstdint>
#include <string>

#include <distrun/common/base/error.hpp>
#include <distrun/common/wire/codec.hpp>

namespace distrun::wire {

// Converts the number of a kind; those that this version does not know are Failed.
constexpr base::ErrorKind error_kind(std::uint8_t number) noexcept {
  const bool is_known = number <= static_cast<std::uint8_t>(base::ErrorKind::Unimplemented);
  return is_known ? static_cast<base::ErrorKind>(number) : base::ErrorKind::Failed;
}

struct ErrorFields {
  std::uint8_t kind = 0;  // error_kind() converts it
  std::string type;
  std::string text;
};
DISTRUN_FIELDS(ErrorFields, m.kind, m.type, m.text)

inline ErrorFields error_fields(const base::Error& error) {
  return {static_cast<std::uint8_t>(error.kind()), error.type(), error.text()};
}

}  // namespace distrun::wire
