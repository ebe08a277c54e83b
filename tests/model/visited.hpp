#pragma once
// The states that were met, each as a fingerprint of 128 bits: a state is missed only if it agrees in all of them with
// another one of the millions of a world.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace distrun::rref::model {

class Visited {
 public:
  // Returns false if it was there already.
  bool add(const std::string& key) {
    if (2 * (size_ + 1) > table_.size()) grow();
    const Print print = print_of(key);
    Print& place = find(print);
    if (place == print) return false;
    place = print;
    ++size_;
    return true;
  }
  std::size_t size() const noexcept { return size_; }

 private:
  struct Print {
    std::uint64_t low = 0;  // both 0: empty
    std::uint64_t high = 0;
    friend bool operator==(const Print&, const Print&) = default;
  };

  static std::uint64_t mix(std::uint64_t x, std::uint64_t factor) {
    x = (x ^ x >> 31) * factor;
    return x ^ x >> 29;
  }
  static Print print_of(const std::string& key) {
    Print print{key.size() + 1, ~key.size()};
    for (std::size_t at = 0; at < key.size(); at += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, key.data() + at, std::min<std::size_t>(8, key.size() - at));
      print.low = mix(print.low + word, 0x9e3779b97f4a7c15);
      print.high = mix(print.high ^ word, 0xc2b2ae3d27d4eb4f);
    }
    print.low |= 1;
    return print;
  }
  Print& find(const Print& print) {
    std::size_t at = static_cast<std::size_t>(print.high) & (table_.size() - 1);
    while (table_[at] != Print{} && table_[at] != print) at = (at + 1) & (table_.size() - 1);
    return table_[at];
  }
  void grow() {
    std::vector<Print> old(std::max<std::size_t>(1024, 2 * table_.size()));
    old.swap(table_);
    for (const Print& each : old) {
      if (each != Print{}) find(each) = each;
    }
  }

  std::vector<Print> table_;
  std::size_t size_ = 0;
};

}  // namespace distrun::rref::model
