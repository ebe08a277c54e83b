// Traces as viewers read them. Data from ranks may be hostile.
#include <catch2/catch.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include <nlohmann/json.hpp>

#include <distrun/common/base/fd.hpp>
#include <distrun/common/base/rng.hpp>
#include <distrun/common/base/thread.hpp>
#include <distrun/common/trace/memory.hpp>
#include <distrun/common/trace/writer.hpp>
#include <distrun/runner/report/trace/chrome_trace.hpp>
#include <distrun/runner/report/trace/trace_files.hpp>

#include "nasty.hpp"
#include "scratch.hpp"

using namespace distrun;
using namespace distrun::report;
using namespace distrun::report::samples;
using nlohmann::json;

namespace {

constexpr auto kSecond = std::chrono::seconds(1);

// An attempt of ranks with pids that began at a fixed time and took two seconds.
struct Traced {
  explicit Traced(int world_size)
      : memory(world_size, trace::kRecordsMin), writers(static_cast<std::size_t>(world_size)) {
    attempt.duration = 2 * kSecond;
    for (int rank = 0; rank < world_size; ++rank) {
      runner::RankRecord& record = attempt.ranks.emplace_back();
      record.rank = rank;
      record.pid = 1000 + rank;
      record.outcome.kind = runner::OutcomeKind::Passed;
      record.exit_code = 0;
      record.started = std::chrono::milliseconds(1);
      record.body_began = std::chrono::milliseconds(10);
      record.body_ended = std::chrono::milliseconds(1900);
      record.ended = std::chrono::milliseconds(1950);
      REQUIRE(writers[static_cast<std::size_t>(rank)].follow(memory.path().c_str(), rank) == 0);
    }
  }

  // Adds a slice; times are in milliseconds since the attempt's begin; an `end` of -1: still in progress.
  void add(int rank, trace::SliceInfo info, int begin, int end) {
    const auto at = [&](int time) { return (began + std::chrono::milliseconds(time)).time_since_epoch().count(); };
    writers[static_cast<std::size_t>(rank)].add(info, at(begin), end < 0 ? 0 : at(end));
  }

  runner::TracedAttempt all() const {
    std::vector<trace::RankTrace> traces;
    for (int rank = 0; rank < memory.world_size(); ++rank) traces.push_back({trace::read(memory, rank), "", false, {}});
    return {plugin, test, attempt, began, began + attempt.duration, std::move(traces), views};
  }
  json read() const { return json::parse(chrome_trace(all())); }

  std::string plugin = "ring.so";
  std::string test = "Ring.pass";
  runner::AttemptRecord attempt;
  base::TimePoint began{std::chrono::hours(1)};
  trace::Memory memory;
  std::vector<trace::Writer> writers;
  std::vector<runner::RankView> views;
};

trace::SliceInfo slice(trace::Kind kind, std::string_view name) {
  trace::SliceInfo info;
  info.kind = kind;
  info.name = name;
  return info;
}

trace::SliceInfo with_peer(trace::SliceInfo info, std::uint64_t peer, std::uint64_t id) {
  info.rule = trace::Peers::One;
  info.peers = peer;
  info.id = id;
  return info;
}

trace::SliceInfo handler(std::string_view name, std::uint64_t caller, std::uint64_t id) {
  trace::SliceInfo info = with_peer(slice(trace::Kind::Handler, name), caller, id);
  info.detail = static_cast<std::uint8_t>(board::WaitKind::Handler);
  return info;
}

// Returns the events of a phase, in order.
std::vector<json> events_of(const json& trace, const std::string& phase) {
  std::vector<json> found;
  for (const json& event : trace["traceEvents"]) {
    if (event["ph"] == phase) found.push_back(event);
  }
  return found;
}

// Returns the only slice with that name; an empty object unless there is exactly one.
json slice_named(const json& trace, const std::string& name) {
  json found = json::object();
  int count = 0;
  for (const json& event : events_of(trace, "X")) {
    if (event["name"] != name) continue;
    found = event;
    ++count;
  }
  return count == 1 ? found : json::object();
}

std::string name_of_process(const json& trace, const json& pid) {
  for (const json& event : events_of(trace, "M")) {
    if (event["name"] == "process_name" && event["pid"] == pid) return event["args"]["name"];
  }
  return "none";
}

}  // namespace

TEST_CASE("ranks on other hosts are named with these, with the error of their times, or why they have none") {
  Traced traced(2);
  traced.attempt.ranks[1].host = "node02";
  runner::TracedAttempt all = traced.all();
  all.traces[0].clock_error = std::chrono::microseconds(30);
  all.traces[1] = {{}, "node02 was lost", false, {}};
  const json trace = json::parse(chrome_trace(all));
  CHECK(trace["otherData"]["error of the times of rank 0"] == "30 us");
  CHECK(trace["otherData"]["no records of rank 1"] == "node02 was lost");
  CHECK(name_of_process(trace, 1000) == "rank 0");
  CHECK(name_of_process(trace, 1001) == "rank 1 on node02");
}

TEST_CASE("a trace has a process for each rank, with its activities at times since the attempt began", "[trace]") {
  Traced traced(2);
  trace::SliceInfo wait = slice(trace::Kind::Wait, "meet");
  wait.detail = static_cast<std::uint8_t>(board::WaitKind::Barrier);
  wait.rule = trace::Peers::All;
  wait.peers = 0b10;
  wait.place = "/src/ring.cpp";
  wait.line = 41;
  traced.add(0, wait, 100, 350);
  const json trace = traced.read();
  const json seen = slice_named(trace, "waits in barrier \"meet\" for rank 1");
  REQUIRE(seen.contains("ts"));
  CHECK(seen["ts"] == 100'000);
  CHECK(seen["dur"] == 250'000);
  CHECK(seen["cat"] == "wait");
  CHECK(seen["pid"] == 1000);
  CHECK(seen["tid"] == ::gettid());
  CHECK(seen["args"]["at"] == "ring.cpp:41");
  CHECK_FALSE(seen["args"].contains("open"));
  CHECK(name_of_process(trace, 1000) == "rank 0");
  CHECK(name_of_process(trace, 1001) == "rank 1");
  CHECK(trace["otherData"]["test"] == "Ring.pass");
  CHECK(trace["otherData"]["verdict"] == "pass");
  CHECK(events_of(trace, "i").empty());
}

TEST_CASE("the phases of a rank are a separate track", "[trace]") {
  Traced traced(1);
  const json body = slice_named(traced.read(), "body");
  CHECK(body["ts"] == 10'000);
  CHECK(body["dur"] == 1'890'000);
  traced.attempt.ranks.front().body_ended = {};
  CHECK(slice_named(traced.read(), "body")["dur"] == 1'940'000);
  CHECK(slice_named(traced.read(), "body")["args"]["open"] == true);
}

TEST_CASE("an activity that is running when its rank ends is open, and ends with it", "[trace]") {
  Traced traced(1);
  traced.attempt.ranks.front().outcome = {runner::OutcomeKind::Signaled, 9, ""};
  traced.attempt.ranks.front().ended = kSecond;
  traced.add(0, slice(trace::Kind::Span, "forward"), 100, -1);
  const json trace = traced.read();
  const json seen = slice_named(trace, "forward");
  CHECK(seen["args"]["open"] == true);
  CHECK(seen["ts"] == 100'000);
  CHECK(seen["dur"] == 900'000);
  REQUIRE(events_of(trace, "i").size() == 1);
  CHECK(events_of(trace, "i").front()["name"] == "killed by signal 9 (SIGKILL)");
  CHECK(events_of(trace, "i").front()["ts"] == 1'000'000);
}

TEST_CASE("a wait that the board shows at the end is in the trace, even if its record is not", "[trace]") {
  Traced traced(1);
  board::ShownWait wait;
  wait.kind = board::WaitKind::Receive;
  wait.name = "token";
  wait.tid = ::gettid();
  wait.since_ns = (traced.began + std::chrono::milliseconds(300)).time_since_epoch().count();
  board::Shown shown;
  shown.waits.push_back(wait);
  traced.views.push_back({0, shown});
  CHECK(slice_named(traced.read(), "waits in receive \"token\"")["ts"] == 300'000);
  // A rank that stays for another test waits in that test.
  traced.attempt.ranks.front().exit_code = -1;
  CHECK_FALSE(slice_named(traced.read(), "waits in receive \"token\"").contains("ts"));
  traced.attempt.ranks.front().exit_code = 0;
  // Also recorded with the finer clock: still only one slice.
  trace::SliceInfo info = slice(trace::Kind::Wait, "token");
  info.detail = static_cast<std::uint8_t>(board::WaitKind::Receive);
  traced.add(0, info, 303, -1);
  CHECK(slice_named(traced.read(), "waits in receive \"token\"")["ts"] == 303'000);
}

TEST_CASE("arrows lead from a call to its handler and back", "[trace]") {
  Traced traced(2);
  traced.add(0, with_peer(slice(trace::Kind::Call, "f"), 1, 7), 100, 200);
  traced.add(0, with_peer(slice(trace::Kind::Reply, "f"), 1, 7), 190, 195);
  traced.add(1, handler("f", 0, 7), 150, 160);
  traced.add(1, handler("f", 0, 8), 170, 180);  // without a known call
  const json trace = traced.read();
  const std::vector<json> begins = events_of(trace, "s");
  const std::vector<json> steps = events_of(trace, "t");
  const std::vector<json> ends = events_of(trace, "f");
  REQUIRE(begins.size() == 1);
  REQUIRE(steps.size() == 1);
  REQUIRE(ends.size() == 1);
  CHECK(begins.front()["pid"] == 1000);
  CHECK(steps.front()["pid"] == 1001);
  CHECK(ends.front()["pid"] == 1000);
  CHECK(ends.front()["bp"] == "e");
  CHECK(begins.front()["id"] == steps.front()["id"]);
  CHECK(begins.front()["id"] == ends.front()["id"]);
  const auto within = [](const json& flow, const json& around) {
    return flow["ts"] >= around["ts"] &&
           flow["ts"].get<double>() < around["ts"].get<double>() + around["dur"].get<double>();
  };
  CHECK(within(begins.front(), slice_named(trace, "calls \"f\" of rank 1")));
  CHECK(within(ends.front(), slice_named(trace, "reply of \"f\" from rank 1")));
}

TEST_CASE("calls of two sessions with the same number each lead to their own handler", "[trace]") {
  Traced traced(2);
  for (const int at : {100, 500}) {
    traced.add(0, with_peer(slice(trace::Kind::Call, "f"), 1, 1), at, at + 50);
    traced.add(1, handler("f", 0, 1), at + 10, at + 20);
  }
  const json trace = traced.read();
  const std::vector<json> begins = events_of(trace, "s");
  const std::vector<json> ends = events_of(trace, "f");
  REQUIRE(begins.size() == 2);
  REQUIRE(ends.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(begins[i]["id"] == ends[i]["id"]);
    CHECK(ends[i]["ts"].get<double>() - begins[i]["ts"].get<double>() == Approx(10'000));
  }
}

TEST_CASE("the work of a stream is on a track of the stream, for all threads", "[trace]") {
  Traced traced(1);
  trace::SliceInfo work = slice(trace::Kind::StreamWork, "kernel");
  work.place = "cuda:0 stream 3";
  traced.add(0, work, 100, 110);
  {
    const base::Thread other("other", [&] { traced.add(0, work, 120, 130); });
  }
  const json trace = traced.read();
  std::vector<json> tracks;
  for (const json& event : events_of(trace, "X")) {
    if (event["cat"] == "stream") tracks.push_back(event["tid"]);
  }
  REQUIRE(tracks.size() == 2);
  CHECK(tracks[0] == tracks[1]);
  bool is_named = false;
  for (const json& event : events_of(trace, "M")) {
    is_named = is_named || (event["tid"] == tracks[0] && event["args"].value("name", "") == "cuda:0 stream 3");
  }
  CHECK(is_named);
}

TEST_CASE("slices that overlap without nesting are on separate tracks", "[trace]") {
  Traced traced(1);
  traced.add(0, slice(trace::Kind::Span, "around"), 100, 200);
  traced.add(0, slice(trace::Kind::Span, "within"), 110, 120);
  traced.add(0, slice(trace::Kind::Span, "longer"), 150, 300);
  traced.add(0, slice(trace::Kind::Span, "longer still"), 160, 400);
  traced.add(0, slice(trace::Kind::Span, "behind"), 200, 210);
  const json trace = traced.read();
  const auto track_of = [&](const std::string& name) { return slice_named(trace, name)["tid"]; };
  CHECK(track_of("around") == ::gettid());
  CHECK(track_of("within") == ::gettid());
  CHECK(track_of("behind") == ::gettid());
  CHECK(track_of("longer") != track_of("around"));
  CHECK(track_of("longer still") != track_of("around"));
  CHECK(track_of("longer still") != track_of("longer"));
}

TEST_CASE("ranks that are threads of one process have separate tracks", "[trace]") {
  Traced traced(2);
  for (runner::RankRecord& rank : traced.attempt.ranks) rank.pid = 77;
  const json trace = traced.read();
  CHECK(name_of_process(trace, 1) == "rank 0");
  CHECK(name_of_process(trace, 2) == "rank 1");
}

TEST_CASE("names with quotes, control characters and invalid UTF-8 are escaped", "[trace]") {
  Traced traced(1);
  const std::string name = GENERATE(from_range(nasty_texts(1)));
  traced.add(0, slice(trace::Kind::Span, name), 100, 200);
  traced.test = name;
  trace::SliceInfo work = slice(trace::Kind::StreamWork, name);
  work.place = name;
  traced.add(0, work, 100, 200);
  CHECK(events_of(traced.read(), "X").size() == 5);
}

TEST_CASE("dropped records are counted", "[trace]") {
  Traced traced(1);
  for (int i = 0; i < 1000; ++i) traced.add(0, slice(trace::Kind::Span, "many"), i, i);
  const json trace = traced.read();
  CHECK(trace["otherData"]["older records not kept of rank 0"] == 1001 - static_cast<int>(trace::kRecordsMin));
  CHECK(events_of(trace, "X").size() == 3 + trace::kRecordsMin);
}

TEST_CASE("a trace is valid JSON for any records, and its slices are within the attempt", "[trace]") {
  Traced traced(2);
  base::Rng rng(static_cast<std::uint64_t>(GENERATE(range(1, 9))));
  const std::size_t size = trace::area_size(traced.memory.records());
  const base::Fd fd(::open(traced.memory.path().c_str(), O_RDWR | O_CLOEXEC));
  void* const at = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(),
                          static_cast<off_t>(trace::area_offset(1, traced.memory.records())));
  REQUIRE(at != MAP_FAILED);
  auto* const bytes = static_cast<std::byte*>(at);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(rng.below(256));
  // Half of them look like records.
  for (std::size_t i = 0; i < traced.memory.records(); i += 2) {
    auto& cell = reinterpret_cast<trace::Cell*>(bytes + trace::kPage)[i];
    trace::Record record;
    std::memcpy(static_cast<void*>(&record), &cell.words, sizeof record);
    record.begin_ns = static_cast<std::int64_t>(rng.below(INT64_MAX - 1) + 1);
    record.end_ns = i % 4 == 0 ? 0 : INT64_MAX;
    record.tid = static_cast<std::int32_t>(rng.below(1000) + 1);
    record.kind = static_cast<trace::Kind>(rng.below(trace::kKindCount));
    record.rule = static_cast<trace::Peers>(rng.below(trace::kPeersCount));
    record.name_size = static_cast<std::uint8_t>(rng.below(trace::kTextSize));
    record.place_size = static_cast<std::uint8_t>(trace::kTextSize - record.name_size);
    std::memcpy(static_cast<void*>(&cell.words), &record, sizeof record);
    cell.state = trace::state_of(i, i % 4 == 0 ? trace::Stage::Open : trace::Stage::Whole);
  }
  ::munmap(at, size);
  board::ShownWait wait;
  wait.since_ns = INT64_MIN;
  wait.peers = {-1};
  board::Shown shown;
  shown.waits.push_back(wait);
  wait.since_ns = INT64_MAX;
  shown.waits.push_back(wait);
  traced.views = {{1, shown}, {17, shown}};
  const json trace = traced.read();
  CHECK(events_of(trace, "X").size() > traced.memory.records() / 4);
  for (const json& event : events_of(trace, "X")) {
    CHECK(event["ts"].get<double>() >= 0);
    CHECK(event["ts"].get<double>() + event["dur"].get<double>() <= 2'000'000.01);
  }
}

TEST_CASE("traces are files named after tests and attempts", "[trace]") {
  const Scratch scratch;
  TraceFiles files(scratch.path("deep/traces"));
  Traced traced(1);
  const std::string directory = scratch.path("deep/traces") + "/";
  CHECK(files.write(traced.all()) == directory + "Ring.pass.json");
  traced.attempt.n = 2;
  CHECK(files.write(traced.all()) == directory + "Ring.pass.attempt2.json");
  traced.attempt.n = 1;
  traced.test = "Ring.pass/n=2,to=../x y";
  CHECK(files.write(traced.all()) == directory + "Ring.pass_n=2,to=.._x_y.json");
  traced.test = "Ring.pass/n=2,to=../x_y";
  CHECK(files.write(traced.all()) == directory + "Ring.pass_n=2,to=.._x_y.2.json");
  traced.plugin = "other.so";
  traced.test = "Ring.pass";
  CHECK(files.write(traced.all()) == directory + "Ring.pass.2.json");
  CHECK(files.failure().empty());
  CHECK(json::parse(content_of(directory + "Ring.pass.json"))["otherData"]["plugin"] == "ring.so");
}

TEST_CASE("no test name leads outside the trace directory", "[trace]") {
  for (const std::string& name : nasty_texts(1)) {
    const std::string file = file_name_of(name);
    CHECK_FALSE(file.empty());
    CHECK(file.size() <= 201);
    CHECK(file.front() != '.');
    CHECK(file.find_first_of("/\\ \n\"'") == std::string::npos);
  }
  CHECK(file_name_of("") == "_");
  CHECK(file_name_of("..") == "_..");
  CHECK(file_name_of(std::string(1000, 'x')).size() == 200);
}

TEST_CASE("a trace that cannot be written is reported once", "[trace]") {
  TraceFiles files("/proc/no/such/directory");
  const Traced traced(1);
  CHECK(files.write(traced.all()).empty());
  files.miss("later");
  CHECK_THAT(files.failure(), Catch::Contains("no trace: cannot create the directory /proc/no/such/directory"));
}
