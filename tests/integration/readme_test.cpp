// The tools print what README.md shows of examples/training and examples/hung_rank, and the page of the command line.
#include <catch2/catch.hpp>

#include <signal.h>

#include <regex>
#include <sstream>
#include <string>

#include "compare.hpp"
#include "programs.hpp"

namespace {

using namespace distrun::testing;

// Returns the block of README.md that starts with that command, without the command.
std::string shown(const std::string& command) {
  const std::string readme = read_file(DISTRUN_README);
  const std::string head = "```console\n$ " + command + "\n";
  const std::size_t start = readme.find(head);
  if (start == std::string::npos) return "README.md shows no `" + command + "`";
  const std::size_t from = start + head.size();
  return readme.substr(from, readme.find("```", from) - from);
}

// Removes what differs between runs: ids, addresses, times, numbers of processes and of library frames.
std::string steady(std::string text) {
  text = without_appeared(text);
  const auto replace = [&](const char* what, const char* with) {
    text = std::regex_replace(text, std::regex(what), with);
  };
  replace("[0-9a-f]{12}", "RUN");
  replace("0x[0-9a-f]+", "ADDRESS");
  replace("[0-9.]+ (us|ms|s|MiB)\\b", "AMOUNT");
  replace("[0-9]+ min [0-9]+ s", "AMOUNT");
  replace("[0-9]+ (library|frames)", "N $1");
  replace("\\b[0-9]{2,}\\b(?=[ )\\n,])(?![^\\n]*AT)", "N");
  replace("hung_rank\\.cpp:N", "hung_rank.cpp:LINE");
  replace("[^ (\n]*/(training\\.|distrun |reports/)", "$1");
  replace("seed [0-9]+", "seed N");
  replace("[^ (\n]*distrun [^\n]*hung_rank\\.so", "distrun hung_rank.so");
  replace("ago in /[^\n]*", "ago in /DIRECTORY");
  replace(" +", " ");
  replace("\n in std::atomic<bool>::operator bool, N library frames", "");  // depends on where the spinning thread is
  return text;
}

}  // namespace

TEST_CASE("README begins with the output of distrun for a test that hangs", "[readme]") {
  const Sandbox sandbox(distrun_program());
  const std::string filter = "--filter Training.ranks_agree_on_the_last_step";
  const std::string expected = steady(shown("distrun " + filter + " build/plugins/training.so"));
  std::string told;
  // On a loaded machine the snapshot may be taken just before the sleeping rank sleeps.
  for (int times = 0; times < 3 && told != expected; ++times) {
    const Ended ended = sandbox.run({"--filter", "Training.ranks_agree_on_the_last_step", DISTRUN_TRAINING});
    CHECK(ended.exit_code == 1);
    told = steady(ended.out);
  }
  CHECK(told == expected);
}

TEST_CASE("README shows what ps, stacks and doctor print of four hanging ranks", "[readme]") {
  const Sandbox sandbox(distrun_program());
  Running running = sandbox.start({"--timeout", "100s", "--deadlock", "report", DISTRUN_HUNG_RANK});
  const auto ask = [&](const std::string& command) {
    const std::string run = sandbox.run_id_in_use();
    if (run.empty()) return std::string();
    Command asked = sandbox.command({command, run});
    asked.capture = sandbox.output() + "/asked";
    return Running(asked).wait(scaled(milliseconds(10'000))).out;
  };
  REQUIRE(eventually(scaled(milliseconds(10'000)),
                     [&] { return ask("ps").find("barrier \"epoch\"") != std::string::npos; }));
  CHECK(steady(ask("ps")) == steady(shown("distrun ps")));
  CHECK(steady(ask("stacks")) == steady(shown("distrun stacks")));
  // On a loaded machine a thread may be on its way back into its wait, and nothing is proven.
  const std::string causes = steady(shown("distrun doctor"));
  std::string told;
  CHECK(eventually(at_latest(milliseconds(20'000)), [&] {
    told = steady(ask("doctor"));
    return told.starts_with(causes);
  }));
  CHECK_THAT(told, Catch::StartsWith(causes));
  running.signal(SIGINT);
  CHECK(running.wait(scaled(milliseconds(5'000))).exit_code == 130);
  sandbox.sweep();
}

TEST_CASE("the page of the command line shows what doctor prints of a program that hangs", "[readme]") {
  const std::string page = read_file(DISTRUN_COMMAND_LINE_PAGE);
  const std::string head = "$ distrun doctor --after 2s -- build/bin/hung_program mutexes\n";
  const std::size_t start = page.find(head);
  REQUIRE(start != std::string::npos);
  const std::size_t from = start + head.size();
  const std::string expected = steady(page.substr(from, page.find("...\n", from) - from));
  const Sandbox sandbox(distrun_program());
  const Ended ended = sandbox.run({"doctor", "--after", "2s", "--", DISTRUN_HUNG_PROGRAM, "mutexes"});
  CHECK(ended.exit_code == 1);
  CHECK_THAT(steady(ended.out), Catch::StartsWith(expected));
}

TEST_CASE("the page of the command line shows what distrun prints of an exception", "[readme]") {
  const std::string readme = read_file(DISTRUN_COMMAND_LINE_PAGE);
  const std::size_t start = readme.find("  rank 1: std::out_of_range");
  REQUIRE(start != std::string::npos);
  std::istringstream block(readme.substr(start, readme.find("```", start) - start));
  const Sandbox sandbox(distrun_program());
  std::string printed = sandbox.run({"--filter", "ThrowSites.in_the_standard_library", plugin("throw_sites")}).out;
  const std::string root = DISTRUN_SOURCE_DIR "/";
  for (std::size_t at = printed.find(root); at != std::string::npos; at = printed.find(root)) {
    printed.erase(at, root.size());
  }
  for (std::string line; std::getline(block, line);) {
    CHECK_THAT(steady(printed), Catch::Contains(steady(line + "\n")));
  }
}
