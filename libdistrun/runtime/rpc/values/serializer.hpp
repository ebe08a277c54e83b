#pragma once
// How the values of calls become bytes: one object for the process, which a test may replace for a scope.
//
//   const UseSerializer guard(my_serializer);
#include <distrun/runtime/rpc/values/codec.hpp>

namespace distrun::rpc {

// Any thread may use one at any time, also while it uses it already.
class Serializer {
 public:
  virtual ~Serializer() = default;
  virtual Packed pack(const Value& value) const = 0;
  virtual Value unpack(const Packed& packed) const = 0;
};

const Serializer& default_serializer() noexcept;  // codec.hpp
const Serializer& current_serializer() noexcept;

// `serializer` must outlive the scope, and the calls that are made in it. One scope at a time, or nested.
class UseSerializer {
 public:
  explicit UseSerializer(const Serializer& serializer) noexcept;
  ~UseSerializer();
  UseSerializer(const UseSerializer&) = delete;
  UseSerializer& operator=(const UseSerializer&) = delete;

 private:
  const Serializer* before_;
};

}  // namespace distrun::rpc
