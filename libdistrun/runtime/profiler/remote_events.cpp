#include <distrun/runtime/profiler/remote_events.hpp>

#include <algorithm>
#include <utility>

#include <distrun/common/wire/codec.hpp>
#include <distrun/runtime/profiler/record.hpp>
#include <distrun/runtime/profiler/recorder.hpp>

namespace distrun::profiler {
namespace {

// The wire format. Lists are limited by the message's bytes, so nothing is allocated that was not sent.
struct Wanted {
  bool record_shapes = false, profile_memory = false, device_time = false;
};
DISTRUN_FIELDS(Wanted, m.record_shapes, m.profile_memory, m.device_time)

struct SentKernel {
  std::string name;
  std::int32_t device = 0;
  std::int64_t duration = 0;
};
DISTRUN_FIELDS(SentKernel, m.name, m.device, m.duration)

struct SentNote {
  std::string name, text;
};
DISTRUN_FIELDS(SentNote, m.name, m.text)

struct SentEvent {
  std::string name;
  std::int64_t begin = 0, end = 0;  // in ns of the sender's clock
  std::int32_t thread = 0, node = -1;
  bool is_async = false;
  std::uint64_t sequence = 0;
  std::int64_t cpu_memory = 0, device_memory = 0, device_time = 0;
  std::vector<std::vector<std::int64_t>> input_shapes;
  std::vector<SentKernel> kernels;
  std::vector<SentNote> notes;
};
DISTRUN_FIELDS(SentEvent, m.name, m.begin, m.end, m.thread, m.node, m.is_async, m.sequence, m.cpu_memory,
               m.device_memory, m.device_time, m.input_shapes, m.kernels, m.notes)

struct SentEvents {
  std::uint64_t not_kept = 0;
  std::vector<SentEvent> events;
};
DISTRUN_FIELDS(SentEvents, m.not_kept, m.events)

constexpr std::int64_t kLatest = std::int64_t{1} << 62;      // sums and differences of two such times fit
constexpr std::int64_t kMostMemory = std::int64_t{1} << 45;  // and sums of the bytes of that many events
constexpr std::size_t kLongestName = 4096;                   // of nested calls
constexpr std::size_t kDimsMost = 64;

std::int64_t count_of(base::TimePoint time) { return base::Nanoseconds(time.time_since_epoch()).count(); }
base::TimePoint time_of(std::int64_t count) { return base::TimePoint(base::Nanoseconds(count)); }

SentEvent sent(const Event& event) {
  SentEvent out;
  out.name = event.name;
  out.begin = count_of(event.begin);
  out.end = count_of(event.end);
  out.thread = event.thread;
  out.node = event.node;
  out.is_async = event.is_async;
  out.sequence = event.sequence;
  out.cpu_memory = event.cpu_memory;
  out.device_memory = event.device_memory;
  out.device_time = event.device_time.count();
  out.input_shapes = event.input_shapes;
  for (const Kernel& each : event.kernels) out.kernels.push_back({each.name, each.device, each.duration.count()});
  for (const auto& [name, text] : event.notes) out.notes.push_back({name, text});
  return out;
}

std::size_t bytes_of(const SentEvent& event) {
  constexpr std::size_t kNumbers = 90;  // and lengths
  std::size_t bytes = kNumbers + event.name.size();
  for (const auto& each : event.input_shapes) bytes += 4 + 8 * each.size();
  for (const SentKernel& each : event.kernels) bytes += 16 + each.name.size();
  for (const SentNote& each : event.notes) bytes += 8 + each.name.size() + each.text.size();
  return bytes;
}

[[noreturn]] void refuse(const char* what) {
  throw Error(ErrorKind::InvalidArgument, std::string("events of a call have ") + what);
}

void check(const SentEvent& event) {
  if (event.name.empty() || event.name.size() > kLongestName) refuse("a name of invalid length");
#ifndef DISTRUN_FUZZ_PLANTED_BUG
  if (event.begin < 0 || event.end < event.begin || event.end > kLatest) refuse("an invalid time");
#endif
  for (const std::int64_t bytes : {event.cpu_memory, event.device_memory}) {
    if (bytes > kMostMemory || bytes < -kMostMemory) refuse("an invalid amount of memory");
  }
  if (event.device_time < 0) refuse("a negative device time");
  for (const auto& each : event.input_shapes) {
    if (each.size() > kDimsMost) refuse("an input with too many dimensions");
  }
  for (const SentKernel& each : event.kernels) {
    if (each.name.size() > kLongestName || each.duration < 0) refuse("an invalid kernel");
  }
}

SentEvents read(wire::BytesView bytes) {
  auto all = wire::decode<SentEvents>(bytes);
  if (all.events.size() > kRemoteLimit) refuse("more entries than the limit");
  for (const SentEvent& each : all.events) check(each);
  return all;
}

// Returns the shift to add to the worker's times.
std::int64_t shift_of(const std::vector<SentEvent>& events, const CalledWorker& worker) {
  if (events.empty()) return 0;
  std::int64_t first = kLatest, last = 0;
  for (const SentEvent& each : events) {
    first = std::min(first, each.begin);
    last = std::max(last, each.end);
  }
  const std::int64_t begin = count_of(worker.begin), end = count_of(worker.end);
  if (first >= begin && last <= end) return 0;
  return begin + std::max<std::int64_t>((end - begin) - (last - first), 0) / 2 - first;
}

Event received(SentEvent&& event, const CalledWorker& worker, std::int64_t shift) {
  const base::Nanoseconds longest = worker.end - worker.begin;
  Event out;
  out.name = std::string(worker.key) + "#remote_op: " + event.name;
  out.begin = std::clamp(time_of(event.begin + shift), worker.begin, worker.end);
  out.end = std::clamp(time_of(event.end + shift), worker.begin, worker.end);
  out.thread = event.thread;
  out.node = event.node >= 0 ? event.node : worker.node;
  out.is_remote = true;
  out.is_async = event.is_async;
  out.sequence = event.sequence;
  out.cpu_memory = event.cpu_memory;
  out.device_memory = event.device_memory;
  out.device_time = std::min(base::Nanoseconds(event.device_time), longest);
  out.input_shapes = std::move(event.input_shapes);
  for (SentKernel& each : event.kernels) {
    out.kernels.push_back({std::move(each.name), each.device, std::min(base::Nanoseconds(each.duration), longest)});
  }
  for (SentNote& each : event.notes) out.notes.emplace_back(std::move(each.name), std::move(each.text));
  return out;
}

}  // namespace

wire::Bytes encode_options(const ProfileOptions& options) {
  return wire::encode(Wanted{options.record_shapes, options.profile_memory, options.device_time});
}

std::optional<ProfileOptions> decode_options(wire::BytesView bytes) noexcept {
  try {
    const auto wanted = wire::decode<Wanted>(bytes);
    ProfileOptions options;
    options.record_shapes = wanted.record_shapes;
    options.profile_memory = wanted.profile_memory;
    options.device_time = wanted.device_time;
    options.limit = kRemoteLimit;
    return options;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

wire::Bytes encode_events(const Events& events, std::uint64_t not_kept) {
  SentEvents all;
  std::size_t room = kRemoteBytes;
  for (const Event& each : events) {
    if (all.events.size() == kRemoteLimit || each.name.size() > kLongestName) continue;
    SentEvent event = sent(each);
    const std::size_t bytes = bytes_of(event);
    if (bytes > room) continue;
    room -= bytes;
    all.events.push_back(std::move(event));
  }
  all.not_kept = not_kept + (events.size() - all.events.size());
  return wire::encode(all);
}

void add_remote_events(const Recorder& recorder, const CalledWorker& worker, wire::BytesView bytes) {
  SentEvents all = read(bytes);
  const std::int64_t shift = shift_of(all.events, worker);
  std::vector<std::unique_ptr<Record>> records;
  records.reserve(all.events.size());
  for (SentEvent& each : all.events) {
    records.push_back(std::make_unique<Record>());
    records.back()->event = received(std::move(each), worker, shift);
    records.back()->order = recorder.next_order();
  }
  for (auto& each : records) recorder.add(std::move(each));
  recorder.lose(std::min<std::uint64_t>(all.not_kept, 1U << 31));
}

}  // namespace distrun::profiler
