// A rank's cost of showing its state on the board, paid for every wait, whether it hangs or not.
#include <benchmark/benchmark.h>

#include <memory>

#include <distrun/common/board/board.hpp>
#include <distrun/common/board/slot_reader.hpp>
#include <distrun/common/board/wait.hpp>

namespace distrun::bench {
namespace {

// A slot in shared memory, as a rank has one.
struct OneRank {
  board::Board board{4};
  board::RankBoard mine{board.fd(), 1, 4};
  board::SlotWriter writer{mine.own()};
  OneRank() { writer.attach(); }
};

board::WaitInfo info() {
  board::WaitInfo wait;
  wait.kind = board::WaitKind::RpcReply;
  wait.name = "worker2: gradients";
  wait.rule = board::PeerRule::All;
  wait.peers.add(2);
  wait.site = base::Location::here();
  return wait;
}

// Beginning and end of a wait, with the time of day for each.
void wait_record(benchmark::State& state) {
  static OneRank one;
  board::SlotWriter writer = one.writer;
  const board::WaitInfo wait = info();
  for (auto _ : state) {
    const board::Wait shown(writer, wait);
    benchmark::ClobberMemory();
  }
}
BENCHMARK(wait_record)->Threads(1)->Threads(2);

void operation(benchmark::State& state) {
  OneRank one;
  for (auto _ : state) one.writer.note(board::WaitKind::RpcReply, "worker2: gradients", 2, 81);
}
BENCHMARK(operation);

// One snapshot of a rank with one wait and a full ring of operations.
void take_snapshot(benchmark::State& state) {
  OneRank one;
  for (int i = 0; i < board::kOperations; ++i) one.writer.note(board::WaitKind::Barrier, "meet");
  const board::Wait shown(one.writer, info());
  for (auto _ : state) benchmark::DoNotOptimize(board::read(one.board.slot(1), 4));
}
BENCHMARK(take_snapshot);

}  // namespace
}  // namespace distrun::bench
