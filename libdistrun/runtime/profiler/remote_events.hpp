#pragma once
// What a worker tells of what it has done for a call, and what becomes of that in the caller's profile. All that is
// read comes from elsewhere: it has limits, and what is beyond them is refused.
#include <cstdint>
#include <optional>
#include <string_view>

#include <distrun/common/wire/buffer.hpp>
#include <distrun/runtime/profiler/event.hpp>
#include <distrun/runtime/profiler/options.hpp>

namespace distrun::profiler {

class Recorder;  // recorder.hpp

// Events that a worker sends for one call, at most, and the bytes that they take: a message has other things to say,
// too.
inline constexpr std::size_t kRemoteLimit = 10'000;
inline constexpr std::size_t kRemoteBytes = 2 << 20;

// What the caller wants to know.
wire::Bytes encode_options(const ProfileOptions& options);
// Nothing: it makes no sense.
std::optional<ProfileOptions> decode_options(wire::BytesView bytes) noexcept;

// `not_kept`: how many there were beside these.
wire::Bytes encode_events(const Events& events, std::uint64_t not_kept);

// The call as its caller knows it.
struct CalledWorker {
  std::string_view key;  // "rpc_sync#f(worker0 -> worker1)"; is not kept
  std::int32_t node = -1;
  base::TimePoint begin;
  base::TimePoint end;
};

// Adds what encode_events() has written, as remote events: "<key>#remote_op: <name>". They are within the call: where
// the worker's clock is another machine's, they are put in its middle. Throws Error{InvalidArgument}, and adds nothing,
// for bytes that no encode_events() has written.
void add_remote_events(const Recorder& recorder, const CalledWorker& worker, wire::BytesView bytes);

}  // namespace distrun::profiler
