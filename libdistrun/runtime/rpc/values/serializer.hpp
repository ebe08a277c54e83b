#pragma once
// Encodes the values of calls as bytes. There is one serializer per process, which a test may replace for a scope.
//
//   const UseSerializer guard(my_serializer);
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

// `serializer` must outlive the scope, and all calls made in it. Scopes must be nested, not concurrent.
class UseSerializer {
 public:
  // The destructor restores the former serializer.
  explicit UseSerializer(const Serializer& serializer) noexcept;
  ~UseSerializer();
  UseSerializer(const UseSerializer&) = delete;
  UseSerializer& operator=(const UseSerializer&) = delete;

 private:
  const Serializer* before_;
};

}  // namespace distrun::rpc
