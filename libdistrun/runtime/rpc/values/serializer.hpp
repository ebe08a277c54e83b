#pragma once
// Encodes the values of calls as bytes. There is one serializer per process (compat.hpp replaces it for a scope).
#include <distrun/runtime/rpc/values/codec.hpp>

namespace distrun::rpc {

// Called on any thread, also concurrently and recursively.
class Serializer {
 public:
  virtual ~Serializer() = default;
  virtual Packed pack(const Value& value) const = 0;     // encodes what a call carries
  virtual Value unpack(const Packed& packed) const = 0;  // decodes it at the other worker
};

const Serializer& default_serializer() noexcept;  // codec.hpp
// Returns the one that calls use.
const Serializer& current_serializer() noexcept;

}  // namespace distrun::rpc
