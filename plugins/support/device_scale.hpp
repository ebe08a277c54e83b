#pragma once
// Scales down what ported tests do on GPUs. A real GPU runs everything except matrix products, which the host computes
// (runtime/device/README.md), at full size. Virtual devices share the few cores of a machine with the ranks: there all
// is smaller, and streams are busy for less time, though still long enough to expose code that does not wait for them.
#include <cstdint>
#include <string>

#include <distrun/runtime/device/gpu.hpp>
#include <distrun/runtime/device/stream.hpp>
#include <distrun/test.hpp>

namespace distrun::suites {

// The divisors.
struct DeviceScale {
  int busy = 1;      // time for which a stream is busy
  int rounds = 1;    // repetitions in a test
  int sizes = 1;     // of tensors
  int products = 8;  // of matrices that are multiplied
};

inline DeviceScale device_scale() {
  if (device::gpu_driver().name() != "virtual") return {};
  return {.busy = 10, .rounds = 2, .sizes = 25, .products = 25};
}

// Notes the scale in the test's report.
inline void note_scale(Rank& rank) {
  const auto [busy, rounds, sizes, products] = device_scale();
  const auto part = [](const char* what, int of) { return std::string(what) + " 1/" + std::to_string(of); };
  rank.note("scale", part("busy", busy) + ", " + part("rounds", rounds) + ", " + part("sizes", sizes) + ", " +
                         part("products", products));
}

inline int scaled_rounds(int rounds) { return rounds / device_scale().rounds; }
inline std::int64_t scaled_size(std::int64_t size) { return size / device_scale().sizes; }
inline std::int64_t scaled_product(std::int64_t size) { return size / device_scale().products; }

// Delays later work on the stream by that many cycles; about a second in ported tests.
inline void keep_busy(Stream stream, std::uint64_t cycles) {
  stream.driver().busy(stream.ref(), cycles / static_cast<std::uint64_t>(device_scale().busy));
}
inline void keep_busy(Stream stream) { keep_busy(stream, stream.driver().properties(stream.device().index).clock_hz); }
inline constexpr std::uint64_t kSlowCycles = 500'000'000;

}  // namespace distrun::suites
