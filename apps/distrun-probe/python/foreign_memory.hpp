#pragma once
// Memory of a process that may change, end or be damaged while it is read. Every address is untrusted, and a read can
// fail at any time: users give up what they were reading, and keep what they have. Abstract, so that tests can lay out
// memory by hand.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>

namespace distrun::probe::python {

using Address = std::uint64_t;

class ForeignMemory {
 public:
  virtual ~ForeignMemory() = default;

  // Returns false unless all of it could be read.
  virtual bool read(Address address, void* into, std::size_t size) = 0;

  template <class Value>
  std::optional<Value> value(Address address) {
    static_assert(std::is_trivially_copyable_v<Value>);
    Value value{};
    if (!read(address, &value, sizeof value)) return std::nullopt;
    return value;
  }
  // Returns 0 for a pointer that cannot be read, as for a null pointer: neither leads anywhere.
  Address pointer(Address address) { return value<Address>(address).value_or(0); }
};

}  // namespace distrun::probe::python
