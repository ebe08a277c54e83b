// A rank's cost of recording a trace, and of being ready to; and distrun's cost of writing the file.
#include <benchmark/benchmark.h>

#include <memory>
#include <utility>
#include <vector>

#include <distrun/common/trace/reader.hpp>
#include <distrun/common/trace/writer.hpp>
#include <distrun/plugin/rank/seat.hpp>
#include <distrun/runner/report/trace/chrome_trace.hpp>

namespace distrun::bench {
namespace {

trace::SliceInfo slice() {
  trace::SliceInfo info;
  info.kind = trace::Kind::Operator;
  info.name = "add";
  return info;
}

// Beginning and end of a slice, with the time of day for each. The first argument: whether there is a trace.
void slice_record(benchmark::State& state) {
  static const trace::Memory memory(1, trace::kRecordsDefault);
  static trace::Writer on;
  static trace::Writer off;
  static const int denied = on.follow(memory.path().c_str(), 0);
  if (denied != 0) state.SkipWithError("no area");
  trace::Writer& writer = state.range(0) != 0 ? on : off;
  const trace::SliceInfo info = slice();
  for (auto _ : state) {
    writer.end(writer.begin(info));
    benchmark::ClobberMemory();
  }
}
BENCHMARK(slice_record)->ArgName("traced")->Arg(0)->Arg(1)->Threads(1)->Threads(2);

// A wait of the runtime as a rank shows it: on its board, and in its trace if there is one.
void wait_record(benchmark::State& state) {
  const board::Board board(4);
  rank::Seat seat(board.fd(), 1, 4);
  seat.writer.attach();
  const trace::Memory memory(4, trace::kRecordsDefault);
  if (state.range(0) != 0 && seat.trace.follow(memory.path().c_str(), 1) != 0) state.SkipWithError("no area");
  board::WaitInfo info;
  info.kind = board::WaitKind::RpcReply;
  info.name = "worker2: gradients";
  info.rule = board::PeerRule::All;
  info.peers.add(2);
  info.site = base::Location::here();
  for (auto _ : state) {
    seat.end_wait(seat.begin_wait(info, base::TimePoint::max()));
    benchmark::ClobberMemory();
  }
}
BENCHMARK(wait_record)->ArgName("traced")->Arg(0)->Arg(1);

// The file of an attempt of 4 ranks with that many slices each.
void trace_file(benchmark::State& state) {
  const trace::Memory memory(4, static_cast<std::uint64_t>(state.range(0)));
  runner::AttemptRecord attempt;
  for (int rank = 0; rank < 4; ++rank) {
    runner::RankRecord& record = attempt.ranks.emplace_back();
    record.rank = rank;
    record.pid = 1000 + rank;
    trace::Writer writer;
    if (writer.follow(memory.path().c_str(), rank) != 0) state.SkipWithError("no area");
    for (std::int64_t i = 1; i < state.range(0); ++i) writer.add(slice(), 10 * i, 10 * i + 5);
  }
  const std::string plugin = "ring.so";
  const std::string test = "Ring.pass";
  std::size_t bytes = 0;
  for (auto _ : state) {
    const base::TimePoint began{};
    std::vector<trace::RankTrace> traces;
    for (int rank = 0; rank < 4; ++rank) traces.push_back({trace::read(memory, rank), "", false, {}});
    bytes = report::chrome_trace({plugin, test, attempt, began, began + std::chrono::seconds(1), std::move(traces), {}})
                .size();
  }
  state.counters["bytes"] = static_cast<double>(bytes);
}
BENCHMARK(trace_file)->ArgName("records")->Arg(1024)->Arg(65536)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace distrun::bench
