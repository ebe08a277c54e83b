// Plugins and programs built with a sanitizer: its report is the cause of the failure.
#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "support/sandbox.hpp"

namespace {

using namespace distrun::testing;
using Catch::Contains;

std::string plugin(const std::string& sanitizer) {
  return std::string(DISTRUN_PLUGIN_DIR) + "/fixture_sanitized_" + sanitizer + ".so";
}

// Returns the only test of a run that must fail because of rank 1. The sanitizers behave as for users, but for
// undefined behaviour, which is only printed by default.
TestResult failing_test(const Sandbox& sandbox, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin() + 1, {"--output", sandbox.output(), "--color", "never"});
  Command command = sandbox.command(std::move(arguments));
  std::erase_if(command.environment,
                [](const std::string& each) { return each.find("SAN_OPTIONS=") < each.find('='); });
  command.environment.emplace_back("UBSAN_OPTIONS=halt_on_error=1");
  const Ended ended = Running(std::move(command)).wait(scaled(milliseconds(60'000)));
  INFO("the console got: " << ended.out << ended.err);
  CHECK(ended.exit_code == 1);
  for (const std::string& left : sandbox.remains()) FAIL_CHECK(left);
  TestResult test = sandbox.summary().tests.at(0);
  CHECK(test.attempts.at(0).culprits == std::vector<int>{1});
  return test;
}

}  // namespace

TEST_CASE("the report of the address sanitizer is the cause in every isolation, also where ranks are threads",
          "[sanitizer]") {
  const std::string isolation =
      GENERATE(std::string("process"), std::string("exec"), std::string("pool"), std::string("threads"));
  INFO("isolation " << isolation);
  const Sandbox sandbox(DISTRUN_BIN);
  const TestResult test =
      failing_test(sandbox, {"run", "-w", "3", "--isolation", isolation, "--filter", "Address.*", plugin("address")});
  CHECK(test.verdict == "crash");
  CHECK_THAT(test.message,
             Catch::StartsWith("rank 1 failed: AddressSanitizer: heap-buffer-overflow, WRITE of size 1 (") &&
                 Contains("sanitized.cpp:17), and exited with code 1"));
}

TEST_CASE("undefined behaviour that ends a rank is the cause", "[sanitizer]") {
  const Sandbox sandbox(DISTRUN_BIN);
  const TestResult test = failing_test(sandbox, {"run", "-w", "2", "--filter", "Undefined.*", plugin("undefined")});
  CHECK_THAT(test.message, Catch::StartsWith("rank 1 failed: UndefinedBehaviorSanitizer: signed integer overflow: ") &&
                               Contains("sanitized.cpp:20)"));
}

TEST_CASE("a plugin built with the thread sanitizer runs, and its data race is the cause", "[sanitizer]") {
  const Sandbox sandbox(DISTRUN_BIN);
  const TestResult test = failing_test(sandbox, {"run", "-w", "2", "--filter", "Thread.*", plugin("thread")});
  CHECK_THAT(test.message, Contains("rank 1 failed: ThreadSanitizer: data race, ") && Contains("sanitized.cpp:2") &&
                               Contains("in exit, after its body had passed"));
}

TEST_CASE("the report of a sanitizer is the cause of a program's failure", "[sanitizer]") {
  const std::string error = GENERATE(std::string("address"), std::string("undefined"));
  const Sandbox sandbox(DISTRUN_BIN);
  const TestResult test = failing_test(sandbox, {"exec", "-w", "2", "--", DISTRUN_SANITIZED_PROGRAM, error});
  CHECK_THAT(test.message, error == "address"
                               ? Contains("rank 1 failed: AddressSanitizer: heap-buffer-overflow, WRITE of size 1 (") &&
                                     Contains("sanitized_program.cpp:13)")
                               : Contains("rank 1 failed: UndefinedBehaviorSanitizer: signed integer overflow: ") &&
                                     Contains("sanitized_program.cpp:16)"));
}
