#include <catch2/catch.hpp>

#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include <distrun/common/base/thread.hpp>
#include <distrun/common/wire/control.hpp>
#include <distrun/plugin/rank/stack_dump.hpp>
#include <distrun/plugin/rank/stacks_frame.hpp>

#include "shared_area.hpp"
#include "symbols.hpp"

using namespace distrun;
using distrun::testing::SharedArea;
using distrun::testing::Symbols;

namespace {

// Threads that stand still until released.
class Crowd {
 public:
  explicit Crowd(int count) {
    for (int i = 0; i < count; ++i) threads_.emplace_back([this] { stand_still(); });
    for (int now = standing_; now < count; now = standing_) standing_.wait(now);
  }
  ~Crowd() {
    go_ = true;
    go_.notify_all();
    for (auto& thread : threads_) thread.join();
  }

 private:
  void stand_still() {
    ++standing_;
    standing_.notify_all();
    while (!go_) go_.wait(false);  // a loop, or a tail call would replace this function's frame
  }

  std::atomic<bool> go_{false};
  std::atomic<int> standing_{0};
  std::vector<std::thread> threads_;
};

board::Dump dump_into(board::DumpArea& area) {
  rank::prepare_stack_dump();
  rank::dump_stacks(area, rank::Asker::Request);
  return board::read(area).value();
}

}  // namespace

TEST_CASE("a dump has every thread with its position, and the files of all addresses") {
  const Crowd crowd(16);
  const SharedArea area;
  const board::Dump dump = dump_into(*area);
  const Symbols symbols;
  CHECK(dump.complete);
  CHECK(dump.signal == 0);
  CHECK(dump.stacks.pid == ::getpid());
  REQUIRE(dump.stacks.threads.size() == 17);
  CHECK(symbols.has_function(dump.stacks.threads[0], "dump_into"));
  for (std::size_t i = 1; i < 17; ++i) {
    INFO(dump.stacks.threads[i].why_none);
    CHECK(symbols.has_function(dump.stacks.threads[i], "stand_still"));
  }
  std::set<std::string> files;
  for (const auto& module : dump.stacks.modules) files.insert(module.path.substr(module.path.rfind('/') + 1));
  CHECK(files.contains(program_invocation_short_name));
  CHECK(files.contains("libc.so.6"));
}

TEST_CASE("an area serves many dumps, and threads beyond its capacity are counted") {
  const SharedArea area;
  const Crowd few(2);
  for (int i = 0; i < 100; ++i) REQUIRE(dump_into(*area).stacks.threads.size() == 3);
  const Crowd many(300);
  const board::Dump dump = dump_into(*area);
  CHECK(dump.stacks.threads.size() == board::kDumpThreadsMax);
  CHECK(dump.left_out == 303 - board::kDumpThreadsMax);
}

TEST_CASE("a thread that blocks the signal is reported, and no signal stays pending") {
  std::atomic<int> step{0};
  std::thread deaf([&] {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, nullptr);
    step = 1;
    step.notify_all();
    step.wait(1);
    sigset_t pending;
    sigpending(&pending);
    step = ::sigismember(&pending, rank::dump_signal()) == 0 ? 3 : 4;
  });
  step.wait(0);
  const SharedArea area;
  const board::Dump dump = dump_into(*area);
  step = 2;
  step.notify_all();
  deaf.join();
  CHECK(step == 3);
  REQUIRE(dump.stacks.threads.size() == 2);
  CHECK(dump.stacks.threads[1].why_none == "it blocks the signal for stacks");
}

TEST_CASE("no thread is asked if a test handles the signal itself") {
  const Crowd crowd(1);
  rank::prepare_stack_dump();
  struct sigaction ours {};
  struct sigaction theirs {};
  theirs.sa_handler = [](int) {};
  ::sigaction(rank::dump_signal(), &theirs, &ours);
  const SharedArea area;
  const board::Dump dump = dump_into(*area);
  ::sigaction(rank::dump_signal(), &ours, nullptr);
  REQUIRE(dump.stacks.threads.size() == 2);
  CHECK_FALSE(dump.stacks.threads[0].pcs.empty());
  CHECK(dump.stacks.threads[1].why_none == "the test handles the signal for stacks itself");
}

TEST_CASE("the frame of an answer is identical to that of the codec") {
  const Crowd crowd(3);
  rank::prepare_stack_dump();
  const auto frame = rank::answer_with_stacks(7);
  wire::FrameSplitter splitter(wire::kProtocol<wire::ControlFrame>);
  splitter.feed(wire::view_of(frame.data(), frame.size()));
  const auto read = splitter.next();
  REQUIRE(read);
  CHECK(read->is(wire::ControlFrame::Stacks));
  CHECK(read->rank == 7);
  const auto stacks = wire::decode<wire::RawStacks>(wire::view_of(read->payload));
  CHECK(stacks.pid == ::getpid());
  CHECK(stacks.threads.size() == 4);
  CHECK(wire::encode(stacks) == read->payload);
}

TEST_CASE("the largest dump fits into its frame") {
  const SharedArea area;
  area->head.thread_count = board::kDumpThreadsMax;
  area->head.module_count = board::kDumpModulesMax;
  for (auto& thread : area->threads) {
    thread.tid = 1;
    thread.pc_count = board::kDumpPcsMax;
    std::fill(std::begin(thread.name), std::end(thread.name), 'x');
  }
  for (auto& module : area->modules) std::fill(std::begin(module.path), std::end(module.path), 'x');
  std::vector<std::byte> room(rank::kStacksFrameMax);
  const auto frame = rank::encode_stacks(*area, 0, std::span<std::byte, rank::kStacksFrameMax>(room));
  CHECK(frame.size() < rank::kStacksFrameMax);
}

TEST_CASE("a deep stack keeps its innermost and outermost frames") {
  struct Deep {
    static int go(int depth, board::DumpArea& area) {
      volatile int below = depth > 0 ? go(depth - 1, area) : (rank::dump_stacks(area, rank::Asker::Request), 0);
      return below + 1;
    }
  };
  rank::prepare_stack_dump();
  const SharedArea area;
  CHECK(Deep::go(5000, *area) == 5001);
  const auto dump = board::read(*area);
  const auto& pcs = dump->stacks.threads[0].pcs;
  REQUIRE(pcs.size() == board::kDumpPcsMax);
  CHECK(pcs[wire::kInnerFrames] == 0);
  const Symbols symbols;
  REQUIRE_FALSE(symbols.find(pcs[50]).empty());
  CHECK(symbols.find(pcs[50]).back().function == "go");
  CHECK(symbols.has_function(dump->stacks.threads[0], "main"));
}
