#include <distrun/common/base/rng.hpp>

namespace distrun::base {
namespace {

// The splitmix64 finaliser.
std::uint64_t mixed(std::uint64_t value) noexcept {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
  return value ^ (value >> 31);
}

}  // namespace

std::uint64_t Rng::below(std::uint64_t bound) {
  return std::uniform_int_distribution<std::uint64_t>(0, bound - 1)(engine_);
}

double Rng::unit() { return std::uniform_real_distribution<double>(0.0, 1.0)(engine_); }

std::uint64_t derive_seed(std::uint64_t seed, std::string_view name) noexcept {
  // FNV-1a. The seed is mixed first: if adjacent, the seed and the first letter would cancel out.
  std::uint64_t hash = 14695981039346656037ULL ^ mixed(seed);
  for (const char c : name) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 1099511628211ULL;
  }
  return mixed(hash);
}

std::uint64_t random_seed() {
  std::random_device device;
  return (static_cast<std::uint64_t>(device()) << 32) | device();
}

std::string random_hex(int digits) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::random_device device;
  std::string text;
  for (int i = 0; i < digits; ++i) text += kDigits[device() % 16];
  return text;
}

}  // namespace distrun::base
