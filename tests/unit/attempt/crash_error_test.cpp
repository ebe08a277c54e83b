#include <catch2/catch.hpp>

#include <signal.h>

#include <distrun/runner/attempt/crash_error.hpp>

using namespace distrun;

namespace {

wire::StackFrame frame_at(std::uint64_t pc, std::string function) {
  wire::StackFrame frame;
  frame.pc = pc;
  frame.function = std::move(function);
  if (frame.function.empty()) return frame;  // no file contains the code
  frame.module = "/tests/plugin.so";
  frame.file = "/tests/ring.cpp";
  frame.line = 41;
  return frame;
}

// Returns the stacks of rank 0, which has crashed with these frames, innermost first.
evidence::Stacks crashed_with(std::vector<wire::StackFrame> frames) {
  evidence::Stacks stacks;
  wire::ThreadStack thread;
  thread.crashed = true;
  for (std::uint32_t i = 0; i < frames.size(); ++i) thread.frames.push_back(i);
  stacks.table = std::move(frames);
  evidence::Process process;
  process.rank = 0;
  process.threads.push_back(std::move(thread));
  stacks.processes.push_back(std::move(process));
  return stacks;
}

board::Dump dump_of(int signal, int code, std::uint64_t address = 0) {
  board::Dump dump;
  dump.signal = signal;
  dump.code = code;
  dump.address = address;
  return dump;
}

}  // namespace

TEST_CASE("a crash at an address with a known description says what was there") {
  board::Dump dump = dump_of(SIGSEGV, SEGV_ACCERR, 0x12340);
  dump.address_text = "device memory of cuda:1 (allocated at ring.cpp:12)";
  const auto error = runner::crash_error(0, dump, crashed_with({frame_at(0x1000, "pass_token")}));
  CHECK(error.text == "host code accessed device memory of cuda:1 (allocated at ring.cpp:12) in pass_token");
}

TEST_CASE("a fault beside the stack pointer is a stack overflow, one further away is not") {
  const auto text = [](std::uint64_t address, int signal = SIGSEGV) {
    board::Dump dump = dump_of(signal, SEGV_MAPERR, address);
    dump.stack_pointer = 0x7fff'0000'0000;
    return runner::crash_error(0, dump, crashed_with({frame_at(0x1000, "descend")})).text;
  };
  CHECK(text(0x7ffe'ffff'fff8) == "stack overflow (address 0x7ffefffffff8, at the end of its stack) in descend");
  CHECK(text(0x7fff'0000'0200) == "stack overflow (address 0x7fff00000200, at the end of its stack) in descend");
  CHECK(text(0x7ffe'fffe'ffff) == "address 0x7ffefffeffff in descend");
  CHECK(text(0x7fff'0001'0000) == "address 0x7fff00010000 in descend");
  CHECK(text(0) == "null pointer (address 0x0) in descend");
  CHECK(text(0x7ffe'ffff'fff8, SIGBUS) == "address 0x7ffefffffff8 in descend");
}

TEST_CASE("an error for a call of exit() names the place of the call") {
  const auto error = runner::crash_error(0, dump_of(0, 0), crashed_with({frame_at(0x1000, "read_settings")}));
  CHECK(error.type == "exit");
  CHECK(error.text == "exit() was called in read_settings");
  CHECK(error.file == "/tests/ring.cpp");
  CHECK(error.line == 41);
  CHECK(runner::crash_error(0, dump_of(0, 0), {}).text == "exit() was called");
}

TEST_CASE("a crash says what was wrong, where the signal says it") {
  struct Row {
    int signal;
    int code;
    std::uint64_t address;
    const char* text;
  };
  const Row rows[] = {
      {SIGSEGV, SEGV_MAPERR, 0, "null pointer (address 0x0) in pass_token"},
      {SIGSEGV, SEGV_MAPERR, 24, "null pointer (address 0x18) in pass_token"},
      {SIGSEGV, SEGV_MAPERR, 0x12340, "address 0x12340 in pass_token"},
      {SIGBUS, BUS_ADRERR, 0x12340, "address 0x12340 in pass_token"},
      {SIGSEGV, SI_KERNEL, 0, "general protection fault (a wild or misaligned pointer) in pass_token"},
      {SIGFPE, FPE_INTDIV, 0x500, "in pass_token"},
      {SIGILL, ILL_ILLOPN, 0x500, "in pass_token"},
      {SIGSEGV, SI_TKILL, 4711, "in pass_token"},
      {SIGABRT, SI_TKILL, 4711, "in pass_token"},
  };
  for (const Row& row : rows) {
    INFO("row " << &row - rows);
    const auto stacks = crashed_with({frame_at(0x500, "pass_token(int)"), frame_at(0x600, "main")});
    const auto error = runner::crash_error(0, dump_of(row.signal, row.code, row.address), stacks);
    CHECK(error.text == row.text);
    CHECK(error.file == "/tests/ring.cpp");
    CHECK(error.line == 41);
  }
}

TEST_CASE("a jump to an address without code names the caller") {
  struct Row {
    int signal;
    int code;
    std::uint64_t pc;
    std::uint64_t address;
    const char* text;
  };
  const Row rows[] = {
      {SIGSEGV, SEGV_MAPERR, 0, 0, "call of a null pointer in pass_token"},
      {SIGSEGV, SEGV_MAPERR, 0x77770000, 0x77770000, "jump to 0x77770000, where no code is, in pass_token"},
      {SIGBUS, BUS_ADRERR, 0x77770000, 0x77770000, "jump to 0x77770000, where no code is, in pass_token"},
      {SIGILL, ILL_ILLOPN, 0x77770000, 0x77770000, "jump to 0x77770000, where no code is, in pass_token"},
      {SIGFPE, FPE_INTDIV, 0x77770002, 0x77770002, "jump to 0x77770002, where no code is, in pass_token"},
      {SIGSEGV, SI_KERNEL, 0xdeadbeefdeadbeef, 0, "jump to 0xdeadbeefdeadbeef, where no code is, in pass_token"},
  };
  for (const Row& row : rows) {
    INFO("row " << &row - rows);
    const auto stacks = crashed_with({frame_at(row.pc, ""), frame_at(0x500, "pass_token(int)")});
    const auto error = runner::crash_error(0, dump_of(row.signal, row.code, row.address), stacks);
    CHECK(error.text == row.text);
    CHECK(error.line == 41);
  }
}

TEST_CASE("a fault in generated code is not reported as a jump to nowhere when its caller is unknown") {
  const auto stacks = crashed_with({frame_at(0x77770000, "")});
  CHECK(runner::crash_error(0, dump_of(SIGFPE, FPE_INTDIV, 0x77770000), stacks).text == "in 0x77770000");
  // The signal was sent, so the instruction did not cause it.
  const auto called = crashed_with({frame_at(0x77770000, ""), frame_at(0x500, "pass_token(int)")});
  CHECK(runner::crash_error(0, dump_of(SIGILL, SI_TKILL, 4711), called).text == "in 0x77770000");
}

TEST_CASE("a crash without stacks still has its type") {
  const auto error = runner::crash_error(0, dump_of(SIGBUS, BUS_ADRERR, 0x12340), {});
  CHECK(error.is_crash);
  CHECK(error.type == "SIGBUS");
  CHECK(error.text == "address 0x12340");
  CHECK(error.line == 0);
}
