#include <catch2/catch.hpp>

#include <cstring>
#include <memory>

#include <distrun/common/base/rng.hpp>
#include <distrun/common/board/dump_area.hpp>

using namespace distrun;
using namespace distrun::board;

namespace {

std::unique_ptr<DumpArea> fresh() { return std::make_unique<DumpArea>(); }

std::unique_ptr<DumpArea> with_one_thread() {
  auto area = fresh();
  area->head.state = DumpState::Complete;
  area->head.pid = 4711;
  area->head.signal = 11;
  area->head.crashed_tid = 4711;
  area->head.thread_count = 1;
  DumpThread& thread = area->threads[0];
  thread.tid = 4711;
  thread.flags = kDumpCrashed;
  std::strcpy(thread.name, "main");
  thread.pcs[0] = 0x1000;
  thread.pcs[1] = 0x2000;
  thread.pc_count = 2;
  return area;
}

}  // namespace

TEST_CASE("an area that was never written is empty") { CHECK_FALSE(read(*fresh())); }

TEST_CASE("a written area reads as it was written") {
  const auto area = with_one_thread();
  area->head.module_count = 1;
  area->modules[0].bias = 0x5000;
  std::strcpy(area->modules[0].path, "plugin.so");
  const auto dump = read(*area);
  REQUIRE(dump);
  CHECK(dump->complete);
  CHECK(dump->signal == 11);
  REQUIRE(dump->stacks.threads.size() == 1);
  CHECK(dump->stacks.threads[0].crashed);
  CHECK(dump->stacks.threads[0].name == "main");
  CHECK(dump->stacks.threads[0].pcs == std::vector<std::uint64_t>{0x1000, 0x2000});
  REQUIRE(dump->stacks.modules.size() == 1);
  CHECK(dump->stacks.modules[0].path == "plugin.so");
}

TEST_CASE("an area of a dead writer is read as far as it was written") {
  const auto area = with_one_thread();
  area->head.state = DumpState::Writing;
  area->head.thread_count = 3;
  area->threads[1].tid = 4712;
  area->threads[1].ticket = ticket_of(1, Answer::Asked);
  const auto dump = read(*area);
  REQUIRE(dump);
  CHECK_FALSE(dump->complete);
  REQUIRE(dump->stacks.threads.size() == 2);  // the third was not begun
  CHECK(dump->stacks.threads[0].pcs.size() == 2);
  CHECK(dump->stacks.threads[1].why_none == "it did not answer in time");
}

TEST_CASE("an exception belongs to the thread that threw it") {
  const auto area = with_one_thread();
  std::strcpy(area->head.exception_type, "std::runtime_error");
  area->head.exception_tid = 4712;
  CHECK(read(*area)->exception_type.empty());
  area->head.exception_tid = 4711;
  CHECK(read(*area)->exception_type == "std::runtime_error");
}

TEST_CASE("counts and strings of a damaged area are bounded") {
  const auto area = with_one_thread();
  std::memset(static_cast<void*>(area.get()), 0xff, sizeof *area);
  area->head.state = DumpState::Complete;
  for (auto& thread : area->threads) thread.tid = 1;
  area->head.exception_tid = area->head.crashed_tid;
  const auto dump = read(*area);
  REQUIRE(dump);
  CHECK(dump->stacks.threads.size() == kDumpThreadsMax);
  CHECK(dump->stacks.threads[0].pcs.size() == kDumpPcsMax);
  CHECK(dump->stacks.threads[0].name.size() == sizeof DumpThread::name);
  CHECK(dump->stacks.modules.size() == kDumpModulesMax);
  CHECK(dump->stacks.modules[0].path.size() == sizeof DumpModule::path);
  CHECK(dump->exception_text.size() == sizeof DumpHead::exception_text);
}

TEST_CASE("an area full of noise is read without harm") {
  base::Rng rng(7);
  const auto area = fresh();
  for (int round = 0; round < 50; ++round) {
    auto* words = reinterpret_cast<std::uint64_t*>(area.get());
    for (std::size_t i = 0; i < sizeof *area / sizeof *words; ++i) words[i] = rng.next();
    area->head.state = DumpState::Writing;
    const auto dump = read(*area);
    REQUIRE(dump);
    CHECK(dump->stacks.threads.size() <= kDumpThreadsMax);
    for (const auto& thread : dump->stacks.threads) CHECK(thread.pcs.empty() != thread.why_none.empty());
  }
}
