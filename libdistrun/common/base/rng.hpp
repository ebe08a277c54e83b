#pragma once
// Randomness as a seam: every generator has a seed that a report names, and streams derived from one
// seed are independent of each other.
#include <cstdint>
#include <random>
#include <string>
#include <string_view>

namespace distrun::base {

class Rng {
 public:
  explicit Rng(std::uint64_t seed) : engine_(seed) {}

  std::uint64_t next() { return engine_(); }
  // Uniform in [0, bound); bound > 0.
  std::uint64_t below(std::uint64_t bound);
  // Uniform in [0, 1).
  double unit();

 private:
  std::mt19937_64 engine_;
};

// A seed for `name` that depends on both arguments and on nothing else.
std::uint64_t derive_seed(std::uint64_t seed, std::string_view name) noexcept;
// From the operating system, for run ids and for a run that names no seed.
std::uint64_t random_seed();
// `digits` lower-case hexadecimal digits of the operating system's randomness.
std::string random_hex(int digits);

}  // namespace distrun::base
