// The example of references: distrun prints what its page shows, at the end and during the run.
#include <catch2/catch.hpp>

#include <regex>
#include <string>

#include "compare.hpp"
#include "programs.hpp"

namespace {

using namespace distrun::testing;
using std::chrono::milliseconds;

// Returns the path of a cycle, without source lines; the whole text if there is no cycle.
std::string cycle(const std::string& text) {
  std::smatch found;
  const std::regex line("a cycle, which is kept until the session ends: [^\n]*");
  if (!std::regex_search(text, found, line)) return "no cycle in: " + text;
  return std::regex_replace(found.str(), std::regex("cpp:[0-9]+"), "cpp");
}

}  // namespace

TEST_CASE("the example of references trains, as processes and as threads") {
  const Sandbox sandbox(distrun_program());
  CHECK(sandbox.run({"--world-size", "4", "--filter", "*.trains", DISTRUN_PARAMETER_SERVER}).exit_code == 0);
  CHECK(sandbox
            .run({"--world-size", "3", "--filter", "*.trains", "--isolation", "threads", "--agent", "inproc",
                  DISTRUN_PARAMETER_SERVER})
            .exit_code == 0);
}

TEST_CASE("cycles of references are reported with their path, as the example's page shows") {
  const Sandbox sandbox(distrun_program());
  const Ended ended = sandbox.run({"--world-size", "3", "--filter", "*.lets_go_of_nodes", DISTRUN_PARAMETER_SERVER});
  CHECK(ended.exit_code == 1);
  CHECK(cycle(ended.out) == cycle(read_file(DISTRUN_PARAMETER_SERVER_PAGE)));
}

TEST_CASE("ps --rrefs shows the holders of references of an active run, and cycles") {
  const Sandbox sandbox(distrun_program());
  Running running = sandbox.start({"--world-size", "3", "--filter", "*.lets_go_of_nodes", DISTRUN_PARAMETER_SERVER});
  std::string told;
  const bool is_told = eventually(scaled(milliseconds(10'000)), [&] {
    const std::string id = sandbox.run_id_in_use();
    if (id.empty()) return false;
    Command command = sandbox.command({"ps", "--rrefs", id});
    command.capture = sandbox.output() + "/asked";
    told = Running(command).wait(scaled(milliseconds(10'000))).out;
    return told.find("a cycle, ") != std::string::npos;
  });
  INFO(told);
  CHECK(is_told);
  CHECK(cycle(told) == cycle(read_file(DISTRUN_PARAMETER_SERVER_PAGE)));
  CHECK(std::regex_search(told, std::regex("references of worker1, [^\n]* ago: it owns 1, and holds 1\n")));
  CHECK(std::regex_search(told, std::regex("owns 0\\.0 \\(Node\\) for [^\n]*, held by worker2 \\(fork [0-9.]+\\), "
                                           "created at parameter_server\\.cpp:[0-9]+ \\(worker0\\), holds [0-9.]+\n")));
  CHECK(running.wait(scaled(milliseconds(20'000))).exit_code == 1);
}
