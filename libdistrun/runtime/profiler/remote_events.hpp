#pragma once
// Events that a worker returns from a call, and their conversion for the caller's profile. Received data is untrusted:
// it has limits, and violations are refused.
#include <cstdint>
#include <optional>
#include <string_view>

#include <distrun/common/wire/buffer.hpp>
#include <distrun/runtime/profiler/event.hpp>
#include <distrun/runtime/profiler/options.hpp>

namespace distrun::profiler {

class Recorder;  // recorder.hpp

// Limits of the events that a worker returns for one call, and of their bytes: the message carries other data, too.
inline constexpr std::size_t kRemoteLimit = 10'000;
inline constexpr std::size_t kRemoteBytes = 2 << 20;

// Encodes the options of the caller.
wire::Bytes encode_options(const ProfileOptions& options);
// Returns nothing for invalid bytes.
std::optional<ProfileOptions> decode_options(wire::BytesView bytes) noexcept;

// `not_kept`: number of further events.
wire::Bytes encode_events(const Events& events, std::uint64_t not_kept);

// The call as seen by its caller.
struct CalledWorker {
  std::string_view key;  // "rpc_sync#f(worker0 -> worker1)"; not stored
  std::int32_t node = -1;
  base::TimePoint begin;
  base::TimePoint end;
};

// Adds the events that encode_events() has written, as remote events: "<key>#remote_op: <name>". They lie within the
// call: if the worker's clock is another machine's, they are centred in it. Throws Error{InvalidArgument}, and adds
// nothing, for invalid bytes.
void add_remote_events(const Recorder& recorder, const CalledWorker& worker, wire::BytesView bytes);

}  // namespace distrun::profiler
