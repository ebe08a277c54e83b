#pragma once
// Randomness as a seam: every generator has a seed that reports name; streams derived from one seed are independent.
#include <cstdint>
#include <random>
#include <string>
#include <string_view>

namespace distrun::base {

class Rng {
 public:
  explicit Rng(std::uint64_t seed) : engine_(seed) {}

  std::uint64_t next() { return engine_(); }
  // Returns a uniform number in [0, bound); bound > 0.
  std::uint64_t below(std::uint64_t bound);
  // Returns a uniform number in [0, 1).
  double unit();

 private:
  std::mt19937_64 engine_;
};

// Derives a seed for `name`. It depends only on the two arguments.
std::uint64_t derive_seed(std::uint64_t seed, std::string_view name) noexcept;
// Returns a seed from the operating system, for run ids and for runs without --seed.
std::uint64_t random_seed();
// Returns `digits` random lower-case hexadecimal digits from the operating system.
std::string random_hex(int digits);

}  // namespace distrun::base
