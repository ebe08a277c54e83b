#pragma once
// Memory that is laid out by hand.
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "python/foreign_memory.hpp"

namespace distrun::testing {

class FakeMemory final : public probe::python::ForeignMemory {
 public:
  using Address = probe::python::Address;

  bool read(Address address, void* into, std::size_t size) override {
    ++reads;
    auto block = blocks_.upper_bound(address);
    if (block == blocks_.begin()) return false;
    --block;
    const Address at = address - block->first;
    if (at > block->second.size() || size > block->second.size() - at) return false;
    std::memcpy(into, block->second.data() + at, size);
    return true;
  }
  // Returns the address of a new block of zeroes, apart from all others.
  Address add(std::size_t size) {
    const Address address = next_;
    blocks_[address] = std::vector<char>(size);
    next_ += (size + 0x1fff) & ~Address{0xfff};
    return address;
  }
  template <class Value>
  void set(Address address, Value value) {
    set_bytes(address, &value, sizeof value);
  }
  void set_bytes(Address address, const void* from, std::size_t size) {
    auto block = std::prev(blocks_.upper_bound(address));
    std::memcpy(block->second.data() + (address - block->first), from, size);
  }
  std::map<Address, std::vector<char>>& blocks() { return blocks_; }

  std::size_t reads = 0;

 private:
  std::map<Address, std::vector<char>> blocks_;
  Address next_ = 0x10000;
};

}  // namespace distrun::testing
