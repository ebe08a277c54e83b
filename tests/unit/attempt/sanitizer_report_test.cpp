#include <catch2/catch.hpp>

#include <distrun/common/base/rng.hpp>
#include <distrun/runner/attempt/sanitizer_report.hpp>

using namespace distrun;
using runner::find_sanitizer_report;
using runner::SanitizerReport;

TEST_CASE("no report is found in output without one") {
  CHECK_FALSE(find_sanitizer_report(""));
  CHECK_FALSE(find_sanitizer_report("all is well\n"));
  CHECK_FALSE(find_sanitizer_report("ERROR: out of paper\nWARNING: ThreadSanitizers are nice\n"));
  CHECK_FALSE(find_sanitizer_report("std::runtime_error: runtime error: of a program\n"));
}

TEST_CASE("an address sanitizer report names the access, and the first frame outside the sanitizer") {
  const auto report = find_sanitizer_report(
      "hello\n"
      "=================================================================\n"
      "==22284==ERROR: AddressSanitizer: stack-buffer-overflow on address 0x7ffe1aba7fd4 at pc 0x7f6d bp 0x1 sp 0x2\n"
      "WRITE of size 8 at 0x7ffe1aba7fd4 thread T0\n"
      "    #0 0x7f6d in __interceptor_memset ../../../../src/libsanitizer/sanitizer_common/x.inc:799\n"
      "    #1 0x55be in main /src/test.cpp:10:3\n"
      "    #2 0x7f6d in __libc_start_call_main ../sysdeps/nptl/libc_start_call_main.h:58\n"
      "SUMMARY: AddressSanitizer: stack-buffer-overflow /src/test.cpp:10 in main\n");
  REQUIRE(report);
  CHECK(report->sanitizer == "AddressSanitizer");
  CHECK(report->summary == "stack-buffer-overflow, WRITE of size 8");
  CHECK(report->file == "/src/test.cpp");
  CHECK(report->line == 10);
}

TEST_CASE("an undefined-behaviour report has no header") {
  const auto report = find_sanitizer_report("a.cpp:7:66: runtime error: signed integer overflow: 2 + 1\n");
  CHECK(report == SanitizerReport{"UndefinedBehaviorSanitizer", "signed integer overflow: 2 + 1", "a.cpp", 7});
}

TEST_CASE("a data race is where the first of the two accesses is") {
  const auto report = find_sanitizer_report(
      "WARNING: ThreadSanitizer: data race (pid=22288)\n"
      "  Write of size 4 at 0x55857f06a668 by thread T2:\n"
      "    #0 void std::__invoke_impl<void>() /usr/include/c++/12/bits/invoke.h:61:14 (st+0xd46ff)\n"
      "    #1 main::$_1::operator()() const /src/s.cpp:11:68 (st+0xd46ff) (BuildId: 685501ba97)\n"
      "\n"
      "  Previous write of size 4 at 0x55857f06a668 by thread T1:\n"
      "    #0 main::$_0::operator()() const /src/s.cpp:12:55 (st+0xd469f)\n");
  CHECK(report == SanitizerReport{"ThreadSanitizer", "data race, Write of size 4", "/src/s.cpp", 11});
}

TEST_CASE("leaks are located where the memory was allocated") {
  const auto report = find_sanitizer_report(
      "==1==ERROR: LeakSanitizer: detected memory leaks\n\n"
      "Direct leak of 33 byte(s) in 1 object(s) allocated from:\n"
      "    #0 0x7f24 in __interceptor_malloc ../../../../src/libsanitizer/asan/asan_malloc_linux.cpp:69\n"
      "    #1 0x5556 in lose(char const*) /src/with space/leak.cpp:12\n");
  REQUIRE(report);
  CHECK(report->sanitizer == "LeakSanitizer");
  CHECK(report->summary == "detected memory leaks, Direct leak of 33 byte(s) in 1 object(s)");
  CHECK(report->line == 12);
}

TEST_CASE("the kind of an error is named without the addresses and pids that differ in each run") {
  const auto kind_of = [](const std::string& text) {
    const auto report = find_sanitizer_report("==1==ERROR: AddressSanitizer: " + text + "\n");
    return report ? report->summary : "no report";
  };
  CHECK(kind_of("attempting double-free on 0x602000000010 in thread T0:") == "attempting double-free");
  CHECK(kind_of("SEGV on unknown address 0x000000000000 (pc 0x55 bp 0x7f sp 0x7f T0)") ==
        "SEGV on unknown address 0x000000000000");
  CHECK(kind_of("attempting free on address which was not malloc()-ed: 0x7f in thread T0") ==
        "attempting free on address which was not malloc()-ed: 0x7f in thread T0");
  CHECK(kind_of("negative-size-param: (size=-1)") == "negative-size-param: (size=-1)");
}

TEST_CASE("a report without line numbers is still a report, and the first of several is taken") {
  const auto report = find_sanitizer_report(
      "==1==WARNING: MemorySanitizer: use-of-uninitialized-value\n"
      "    #0 0x55 in f (/bin/x+0x12)\n"
      "==1==ERROR: AddressSanitizer: SEGV on unknown address 0x0 (pc 0x1 T0)\n"
      "    #0 0x55 in g /src/g.cpp:3\n");
  CHECK(report == SanitizerReport{"MemorySanitizer", "use-of-uninitialized-value", "", 0});
}

TEST_CASE("a mebibyte of any text is read in linear time") {
  constexpr std::size_t kSize = 1 << 20;
  const std::string pieces[] = {
      "ERROR: ", "AddressSanitizer: ", ": runtime error: ", "#1 ", ":7", "\n", "(", " ", std::string(1, '\0'), "\xff",
      "x.cpp"};
  base::Rng rng(11);
  for (int round = 0; round < 20; ++round) {
    std::string noise;
    while (noise.size() < kSize / 20) noise += pieces[rng.below(std::size(pieces))];
    const auto report = find_sanitizer_report(noise);
    if (report) CHECK(report->summary.size() < 1000);
  }
  for (const std::string& piece : pieces) {
    std::string many;
    while (many.size() < kSize) many += piece;
    CHECK_FALSE(find_sanitizer_report(many));
  }
  CHECK(find_sanitizer_report(std::string(kSize, '#') + "\nERROR: AddressSanitizer: x" + std::string(kSize, 'x')));
}
