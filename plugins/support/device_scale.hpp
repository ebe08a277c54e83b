#pragma once
// How much of what ported tests do on GPUs is done here. A GPU does all that they say, but for products of matrices,
// which the host computes (runtime/device/README.md). Virtual devices are the few cores of a machine, which the ranks
// share: there all is smaller, and streams are busy for less time, though long enough for what does not wait for them.
#include <cstdint>
#include <string>

#include <distrun/runtime/device/gpu.hpp>
#include <distrun/runtime/device/stream.hpp>
#include <distrun/test.hpp>

namespace distrun::suites {

// What is divided by what.
struct DeviceScale {
  int busy = 1;      // the time for which a stream is busy
  int rounds = 1;    // how often a test does the same
  int sizes = 1;     // of tensors
  int products = 8;  // of matrices that are multiplied
};

inline DeviceScale device_scale() {
  if (device::gpu_driver().name() != "virtual") return {};
  return {.busy = 10, .rounds = 2, .sizes = 25, .products = 25};
}

// For the report of the test.
inline void note_scale(Rank& rank) {
  const auto [busy, rounds, sizes, products] = device_scale();
  const auto part = [](const char* what, int of) { return std::string(what) + " 1/" + std::to_string(of); };
  rank.note("scale", part("busy", busy) + ", " + part("rounds", rounds) + ", " + part("sizes", sizes) + ", " +
                         part("products", products));
}

inline int scaled_rounds(int rounds) { return rounds / device_scale().rounds; }
inline std::int64_t scaled_size(std::int64_t size) { return size / device_scale().sizes; }
inline std::int64_t scaled_product(std::int64_t size) { return size / device_scale().products; }

// What comes later on the stream comes so many cycles later; or, as ported tests say it, about a second.
inline void keep_busy(Stream stream, std::uint64_t cycles) {
  stream.driver().busy(stream.ref(), cycles / static_cast<std::uint64_t>(device_scale().busy));
}
inline void keep_busy(Stream stream) { keep_busy(stream, stream.driver().properties(stream.device().index).clock_hz); }
inline constexpr std::uint64_t kSlowCycles = 500'000'000;

}  // namespace distrun::suites
