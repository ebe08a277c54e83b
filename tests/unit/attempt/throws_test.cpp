#include <catch2/catch.hpp>

#include <distrun/runner/attempt/throws.hpp>

using namespace distrun;
using runner::RankError;
using runner::Throws;

namespace {

wire::StackFrame frame(std::string function, std::string file = "", std::uint32_t line = 0,
                       std::string module = "/tests/plugin.so") {
  wire::StackFrame made;
  made.pc = 0x1000;
  made.function = std::move(function);
  made.file = std::move(file);
  made.line = line;
  made.module = std::move(module);
  return made;
}

wire::ThreadStack stack_of(std::size_t frames) {
  wire::ThreadStack stack;
  for (std::uint32_t i = 0; i < frames; ++i) stack.frames.push_back(i);
  return stack;
}

RankError placed(const std::vector<wire::StackFrame>& table, std::string text = "map::at") {
  RankError error;
  error.type = "std::out_of_range";
  error.text = std::move(text);
  error.file = "/libdistrun/runtime/tensor/core/shape.cpp";
  error.line = 13;
  wire::ThreadStack stack = stack_of(table.size());
  add_place(error, table, stack);
  return error;
}

wire::RawStacks raw(std::uint64_t pc, std::size_t count = 1) {
  wire::RawStacks stacks;
  stacks.threads.emplace_back().pcs.assign(count, pc);
  return stacks;
}

// Returns a probe's answer: each throw of the batch is in a separate frame.
evidence::Stacks names_for(const Throws::Batch& batch) {
  evidence::Stacks stacks;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    stacks.table.push_back(frame("deep", "/tests/ring.cpp", static_cast<std::uint32_t>(40 + i)));
    evidence::Process& process = stacks.processes.emplace_back();
    process.index = static_cast<int>(i);
    process.rank = batch[i].first;
    process.threads.emplace_back().frames = {static_cast<std::uint32_t>(i)};
  }
  return stacks;
}

}  // namespace

TEST_CASE("the place of an exception is in the test's code, not in libraries or the unwinder") {
  const RankError error =
      placed({frame("__cxa_throw", "", 0, "/lib/libstdc++.so.6"),
              frame("std::__throw_out_of_range(char const*)", "", 0, "/lib/libstdc++.so.6"),
              frame("ring::deep(int)", "/tests/ring.cpp", 41), frame("Ring_pass_Test::body()", "/tests/ring.cpp", 50)});
  CHECK(error.text == "map::at");
  CHECK(error.file == "/tests/ring.cpp");
  CHECK(error.line == 41);
  CHECK(error.stack.find("__cxa_throw") == std::string::npos);
  CHECK(error.stack.find("ring::deep at /tests/ring.cpp:41\nRing_pass_Test::body at") != std::string::npos);
}

TEST_CASE("frames of the unwinder are dropped, however many a sanitizer has added") {
  const RankError error =
      placed({frame("__cxa_throw", "", 0, "/lib/libstdc++.so.6"),
              frame("__interceptor___cxa_throw", "", 0, "/tests/plugin.so"), frame("deep", "/tests/ring.cpp", 41)});
  CHECK(error.stack == "deep at /tests/ring.cpp:41\n");
  const RankError again =
      placed({frame("_Unwind_Resume_or_Rethrow"), frame("__cxa_rethrow"), frame("deep", "/tests/ring.cpp", 41)});
  CHECK(again.stack == "deep at /tests/ring.cpp:41\n");
}

TEST_CASE("a library without debug information is skipped in favour of its caller") {
  const std::vector<wire::StackFrame> table = {frame("json::parse(char const*)", "", 0, "/usr/lib/libjson.so"),
                                               frame("deep", "/tests/ring.cpp", 41)};
  CHECK(placed(table).text == "map::at");
  CHECK(placed(table).line == 41);
  // If no frame has a file, the error keeps its original one.
  const RankError error = placed({table.front()});
  CHECK(error.text == "map::at, in json::parse");
  CHECK(error.file == "/libdistrun/runtime/tensor/core/shape.cpp");
  CHECK(error.line == 13);
}

TEST_CASE("where no file is known, the function follows the first line of the text") {
  const std::vector<wire::StackFrame> table = {frame("deep")};
  CHECK(placed(table, "cannot train\n  caused by PeerFailed: x").text ==
        "cannot train, in deep\n  caused by PeerFailed: x");
  CHECK(placed(table, "").text == "in deep");
}

TEST_CASE("errors that arrive while others are symbolized are the next batch") {
  Throws throws;
  std::vector<RankError> errors(3);
  const auto find = [&](int rank, std::size_t) { return &errors[static_cast<std::size_t>(rank)]; };
  CHECK(throws.next_batch().empty());
  throws.add(0, 0, raw(0x10));
  const Throws::Batch first = throws.next_batch();
  REQUIRE(first.size() == 1);
  throws.add(1, 0, raw(0x10));
  throws.add(2, 0, raw(0x10));
  CHECK(throws.next_batch().empty());
  throws.named(names_for(first), find);
  const Throws::Batch second = throws.next_batch();
  REQUIRE(second.size() == 2);
  throws.named(names_for(second), find);
  CHECK(errors[0].line == 40);
  CHECK(errors[2].line == 41);
  // One snapshot of all, with each frame in the table that they now share.
  const evidence::Stacks all = throws.take();
  REQUIRE(all.processes.size() == 3);
  CHECK(all.table.at(all.processes[2].threads[0].frames[0]).line == 41);
  CHECK(throws.take().processes.empty());
}

TEST_CASE("the first errors of a rank are symbolized, and the snapshot reports the same place once") {
  Throws throws;
  std::vector<RankError> errors(10);
  for (std::size_t i = 0; i < errors.size(); ++i) throws.add(0, i, raw(0x10));
  const Throws::Batch batch = throws.next_batch();
  REQUIRE(batch.size() == Throws::kNamedMax);
  throws.named(names_for(batch), [&](int, std::size_t error) { return &errors[error]; });
  CHECK(errors[0].line == 40);
  CHECK(errors[2].line == 42);
  CHECK(errors[3].line == 0);
  CHECK(throws.take().processes.size() == 1);
}

TEST_CASE("an invalid stack, or one that a rank cannot have, is not given to a probe") {
  Throws throws;
  throws.add(0, 0, {});
  throws.add(0, 0, raw(0x10, 0));
  throws.add(0, 0, raw(0x10, 129));
  wire::RawStacks two = raw(0x10);
  two.threads.push_back(two.threads.front());
  throws.add(0, 0, two);
  wire::RawStacks modules = raw(0x10);
  modules.modules.resize(1000);
  throws.add(0, 0, modules);
  CHECK(throws.next_batch().empty());
}

TEST_CASE("names that do not arrive, or not for all frames, leave the errors as they were") {
  Throws throws;
  RankError error;
  error.text = "map::at";
  throws.add(0, 0, raw(0x10));
  (void)throws.next_batch();
  evidence::Stacks odd;
  odd.processes.emplace_back().index = 7;
  odd.processes.emplace_back().index = -1;
  throws.named(odd, [&](int, std::size_t) { return &error; });
  CHECK(error.text == "map::at");
  CHECK(throws.take().processes.empty());
}

TEST_CASE("a rank that has provided no name at all is not asked again") {
  Throws throws;
  throws.add(0, 0, raw(0x10));
  CHECK(throws.next_batch().size() == 1);
  throws.add(1, 0, raw(0x10));
  throws.named({}, [](int, std::size_t) { return nullptr; });
  CHECK(throws.next_batch().empty());
  throws.add(2, 0, raw(0x10));
  CHECK(throws.next_batch().empty());
}
