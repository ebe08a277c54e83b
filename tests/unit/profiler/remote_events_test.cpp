// Events that workers send each other, also malformed ones.
#include <catch2/catch.hpp>

#include <functional>
#include <string>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/rng.hpp>
#include <distrun/common/wire/codec.hpp>
#include <distrun/runtime/profiler/recorder.hpp>
#include <distrun/runtime/profiler/remote_events.hpp>

namespace distrun::profiler {
namespace {

base::TimePoint at(std::int64_t ns) { return base::TimePoint(base::Nanoseconds(ns)); }

Event remote_event(const std::string& name, std::int64_t begin, std::int64_t end) {
  Event made;
  made.name = name;
  made.begin = at(begin);
  made.end = at(end);
  made.thread = 7;
  return made;
}

CalledWorker worker() { return {"rpc_sync#f(a -> b)", 2, at(1000), at(2000)}; }

Events events_of(wire::BytesView bytes, const CalledWorker& from = worker()) {
  const Recorder recorder(ProfileOptions{});
  add_remote_events(recorder, from, bytes);
  return recorder.events();
}
Events received(const Events& sent) { return events_of(wire::view_of(encode_events(sent, 0))); }

bool is_refused(const wire::Bytes& bytes) {
  const Recorder recorder(ProfileOptions{});
  try {
    add_remote_events(recorder, worker(), wire::view_of(bytes));
  } catch (const Error& error) {
    return error.kind() == ErrorKind::InvalidArgument && recorder.events().empty() && recorder.not_kept() == 0;
  }
  return false;
}

Event full_event() {
  Event made = remote_event("aten::add", 1200, 1300);
  made.node = 3;
  made.is_async = true;
  made.sequence = 9;
  made.cpu_memory = -40;
  made.device_memory = 80;
  made.input_shapes = {{2, 3}, {}};
  made.device_time = base::Nanoseconds(50);
  made.kernels = {{"aten::add", 1, base::Nanoseconds(50)}};
  made.notes = {{"a", "b"}};
  return made;
}

TEST_CASE("events arrive with the key of their call, and all their details") {
  const Events events = received({full_event()});
  REQUIRE(events.size() == 1);
  const Event& event = events[0];
  CHECK(event.name == "rpc_sync#f(a -> b)#remote_op: aten::add");
  CHECK(event.is_remote);
  CHECK(event.is_async);
  CHECK(event.node == 3);
  CHECK(event.thread == 7);
  CHECK(event.sequence == 9);
  CHECK(event.begin == at(1200));
  CHECK(event.end == at(1300));
  CHECK(event.cpu_memory == -40);
  CHECK(event.device_memory == 80);
  CHECK(event.input_shapes == full_event().input_shapes);
  CHECK(event.device_time.count() == 50);
  REQUIRE(event.kernels.size() == 1);
  CHECK(event.kernels[0].device == 1);
  CHECK(event.notes == full_event().notes);
}

TEST_CASE("an event without a node belongs to the called worker, and the tree of events is the callee's") {
  const Events events = received({remote_event("outer", 1100, 1500), remote_event("inner", 1200, 1300)});
  REQUIRE(events.size() == 2);
  CHECK(events[0].node == 2);
  CHECK(events[1].parent == 0);
}

TEST_CASE("events of another clock are centred in their call, and none reaches beyond it") {
  const Events events = received({remote_event("a", 500'000, 500'100), remote_event("b", 500'100, 500'200)});
  CHECK(events[0].begin == at(1400));
  CHECK(events[1].begin == at(1500));
  CHECK(events[1].end == at(1600));
  const Events longer = received({remote_event("a", 5, 90'000)});
  CHECK(longer[0].begin == at(1000));
  CHECK(longer[0].end == at(2000));
}

TEST_CASE("events that a worker has not kept, or may not send, are counted") {
  const Recorder recorder(ProfileOptions{.limit = 2 * kRemoteLimit});
  const Events many(kRemoteLimit + 5, remote_event("a", 1100, 1200));
  add_remote_events(recorder, worker(), wire::view_of(encode_events(many, 7)));
  CHECK(recorder.events().size() == kRemoteLimit);
  CHECK(recorder.not_kept() == 12);
  const Recorder other(ProfileOptions{});
  add_remote_events(other, worker(),
                    wire::view_of(encode_events({remote_event(std::string(5000, 'a'), 1100, 1200)}, 0)));
  CHECK(other.events().empty());
  CHECK(other.not_kept() == 1);
}

TEST_CASE("events that are too large for a message are counted, and the others are sent") {
  Events events(20, full_event());
  for (std::size_t i = 0; i < 10; ++i) {
    events[i].notes.emplace_back("long", std::string(kRemoteBytes / 5, 'x'));
    events[i].input_shapes.assign(1000, std::vector<std::int64_t>(8, 1));
    events[i].kernels.assign(100, {"a", 0, base::Nanoseconds(1)});
  }
  const wire::Bytes bytes = encode_events(events, 0);
  CHECK(bytes.size() <= kRemoteBytes);
  const Recorder recorder(ProfileOptions{});
  add_remote_events(recorder, worker(), wire::view_of(bytes));
  CHECK(recorder.events().size() == 14);
  CHECK(recorder.not_kept() == 6);
}

TEST_CASE("truncated events, or events with trailing bytes, are refused and add nothing") {
  const wire::Bytes whole = encode_events({full_event(), remote_event("b", 1300, 1400)}, 0);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    CHECK(is_refused({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)}));
  }
  wire::Bytes longer = whole;
  longer.push_back(std::byte{0});
  CHECK(is_refused(longer));
}

TEST_CASE("impossible numbers are refused") {
  const auto refused = [](const std::function<void(Event&)>& change) {
    Event event = full_event();
    change(event);
    return is_refused(encode_events({event}, 0));
  };
  constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();
  CHECK(refused([](Event& e) { e.begin = at(-1); }));
  CHECK(refused([](Event& e) { e.end = at(1199); }));
  CHECK(refused([](Event& e) { e.end = at(kHuge); }));
  CHECK(refused([](Event& e) { e.cpu_memory = kHuge; }));
  CHECK(refused([](Event& e) { e.device_memory = std::numeric_limits<std::int64_t>::min(); }));
  CHECK(refused([](Event& e) { e.device_time = base::Nanoseconds(-1); }));
  CHECK(refused([](Event& e) { e.kernels[0].duration = base::Nanoseconds(-1); }));
  CHECK(refused([](Event& e) { e.kernels[0].name.assign(5000, 'k'); }));
  CHECK(refused([](Event& e) { e.input_shapes = {std::vector<std::int64_t>(65)}; }));
  CHECK(refused([](Event& e) { e.name.clear(); }));
  CHECK_FALSE(refused([](Event& e) { e.node = -5; }));
}

TEST_CASE("a list that claims more events than its bytes allow, or than the limit, is refused") {
  wire::ByteWriter claims;
  claims.number(std::uint64_t{0});
  claims.number(std::uint32_t{0xffffffff});
  CHECK(is_refused(claims.take()));
  wire::Bytes many = encode_events(Events(kRemoteLimit, remote_event("a", 1100, 1200)), 0);
  const wire::Bytes one = encode_events({remote_event("a", 1100, 1200)}, 0);
  many.insert(many.end(), one.begin() + 12, one.end());
  const auto count = static_cast<std::uint32_t>(kRemoteLimit + 1);
  std::memcpy(many.data() + 8, &count, sizeof count);
  CHECK(is_refused(many));
}

TEST_CASE("random bytes are refused or are events within the call") {
  const wire::Bytes whole = encode_events({full_event(), remote_event("b", 1300, 1400)}, 1);
  base::Rng rng(17);
  int read = 0;
  for (int i = 0; i < 20'000; ++i) {
    wire::Bytes bytes = whole;
    for (int changes = 0; changes < 1 + i % 4; ++changes) {
      bytes[rng.below(bytes.size())] = static_cast<std::byte>(rng.below(256));
    }
    const Recorder recorder(ProfileOptions{});
    try {
      add_remote_events(recorder, worker(), wire::view_of(bytes));
      ++read;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::InvalidArgument) FAIL(error.what());
    }
    for (const Event& each : recorder.events()) {
      if (each.begin < at(1000) || each.end > at(2000) || each.end < each.begin) FAIL("beyond the call");
    }
  }
  CHECK(read > 100);
}

TEST_CASE("a caller's request is read as it was written, and invalid ones are refused") {
  const auto read = decode_options(wire::view_of(encode_options({.record_shapes = true, .device_time = true})));
  REQUIRE(read);
  CHECK(read->record_shapes);
  CHECK_FALSE(read->profile_memory);
  CHECK(read->device_time);
  CHECK(read->limit == kRemoteLimit);
  CHECK_FALSE(decode_options({}));
  CHECK_FALSE(decode_options(wire::view_of(wire::Bytes(4))));
}

}  // namespace
}  // namespace distrun::profiler
