// The output for a step of GitHub Actions, and what the same options print of an earlier run.
#include <catch2/catch.hpp>

#include <regex>
#include <string>

#include "programs.hpp"

namespace {

using namespace distrun::testing;
using Catch::Contains;

// Runs distrun as GitHub's runner starts a step.
Ended run_as_step(const Sandbox& sandbox, std::vector<std::string> arguments, const std::string& summary,
                  std::vector<std::string> environment = {}) {
  Command command = sandbox.command(std::move(arguments));
  environment.push_back("GITHUB_WORKSPACE=" DISTRUN_SOURCE_DIR);
  environment.push_back("GITHUB_STEP_SUMMARY=" + summary);
  command.environment.insert(command.environment.end(), environment.begin(), environment.end());
  return Running(command).wait(scaled(milliseconds(30'000)));
}

// Returns the text after the line that re-enables GitHub's commands; before it none is obeyed.
std::string obeyed_part(const std::string& out) {
  const std::string stop = "::stop-commands::";
  if (!out.starts_with(stop)) return "GitHub is not told to stop";
  const std::string token = out.substr(stop.size(), out.find('\n') - stop.size());
  if (token.size() < 32) return "the token can be guessed: " + token;
  const std::string resume = "\n::" + token + "::\n";
  const std::size_t at = out.find(resume);
  return at == std::string::npos ? "GitHub is not told to go on" : out.substr(at + resume.size());
}

// Removes times: nanoseconds that a summary does not keep may decide how a time is rounded.
std::string junit_without_times(const std::string& xml) {
  return std::regex_replace(xml, std::regex(" time=\"[0-9.]+\""), "");
}

}  // namespace

TEST_CASE("a step of GitHub Actions gets annotations after the console's text, and a summary", "[github]") {
  const Sandbox sandbox(distrun_program());
  const std::string summary = sandbox.output() + "/step";
  write_file(summary, "# of the step before\n\n");
  const Ended ended =
      run_as_step(sandbox, {"run", "--github", "--seed", "7", "--filter", "Fails.require", plugin("fails")}, summary);
  INFO(ended.out << ended.err);
  CHECK(ended.exit_code == 1);
  const std::string obeyed = obeyed_part(ended.out);
  CHECK(
      obeyed.starts_with("::error file=tests/fixtures/fails.cpp,line=23,title=fail%3A Fails.require::rank 2 failed: "
                         "REQUIRE(answer == 42) left: 41, right: 42 ("));
  CHECK_THAT(obeyed, Contains("%0Aagain: ") && Contains("--filter Fails.require --seed 7"));
  CHECK(obeyed.find('\n') + 1 == obeyed.size());
  CHECK_THAT(ended.out, Contains("1 fail in "));
  const std::string page = read_file(summary);
  CHECK(page.starts_with("# of the step before\n\n### distrun: 1 fail in "));
  CHECK_THAT(page, Contains("<b>fail</b> <code>Fails.require</code>"));
  CHECK(sandbox.remains().empty());
}

TEST_CASE("with --github=auto a run writes annotations only on GitHub, and leaves standard output to a report",
          "[github]") {
  const Sandbox sandbox(distrun_program());
  const std::string summary = sandbox.output() + "/step";
  const std::vector<std::string> arguments = {"run", "--github=auto", "--filter", "Fails.require", plugin("fails")};
  const Ended at_home = run_as_step(sandbox, arguments, summary);
  CHECK_THAT(at_home.out, !Contains("::"));
  CHECK_FALSE(exists(summary));
  const std::vector<std::string> unasked = {"run", "--filter", "Fails.require", plugin("fails")};
  CHECK_THAT(run_as_step(sandbox, unasked, summary, {"GITHUB_ACTIONS=true"}).out, !Contains("::"));
  CHECK_FALSE(exists(summary));
  CHECK_THAT(run_as_step(sandbox, arguments, summary, {"GITHUB_ACTIONS=false"}).out, !Contains("::"));
  CHECK_THAT(obeyed_part(run_as_step(sandbox, arguments, summary, {"GITHUB_ACTIONS=true"}).out),
             Contains("::error file="));
  const std::size_t size = read_file(summary).size();
  CHECK(size > 0);
  std::vector<std::string> with_events = arguments;
  with_events.insert(with_events.end(), {"--events", "-"});
  CHECK_THAT(run_as_step(sandbox, with_events, summary, {"GITHUB_ACTIONS=true"}).out, !Contains("::error"));
  CHECK(read_file(summary).size() > size);
}

TEST_CASE("a summary of a step that cannot be written is an infra error with a sentence", "[github]") {
  const Sandbox sandbox(distrun_program());
  const Ended ended =
      run_as_step(sandbox, {"run", "--github", "--filter", "Passes.trivial", plugin("passes")}, "/no/such/step");
  INFO(ended.out << ended.err);
  CHECK(ended.exit_code == kInfraError);
  CHECK_THAT(ended.out, Contains("problem: report: cannot append to /no/such/step"));
  CHECK_THAT(obeyed_part(ended.out), Contains("::error title=problem%3A report::cannot append to /no/such/step"));
}

TEST_CASE("a step summary that others have filled is left unchanged", "[github]") {
  const Sandbox sandbox(distrun_program());
  const std::string summary = sandbox.output() + "/step";
  write_file(summary, std::string((1U << 20U) - 100, 'x'));
  const Ended ended =
      run_as_step(sandbox, {"run", "--github", "--filter", "Passes.trivial", plugin("passes")}, summary);
  CHECK(ended.exit_code == kInfraError);
  CHECK_THAT(ended.out, Contains("cannot append to " + summary) && Contains("1048576"));
  CHECK(read_file(summary).size() == (1U << 20U) - 100);
}

TEST_CASE("text of a test is not a command for GitHub", "[github]") {
  const Sandbox sandbox(distrun_program());
  const std::string path = sandbox.output() + "/summary.json";
  write_file(path, R"({"schema": "distrun.summary/1", "totals": {"fail": 1}, "tests": [{"suite": "Evil", "name": "test",
    "verdict": "fail", "message": "bad\n::warning::forged", "attempts": [{"verdict": "fail", "culprits": [0],
    "ranks": [{"outcome": "failed", "stdout": "::add-mask::forged\n",
               "errors": [{"type": "E", "text": "bad\n::error::forged"}]}]}]}]})");
  const Ended ended = run_as_step(sandbox, {"show", "--github", path}, sandbox.output() + "/step");
  INFO(ended.out << ended.err);
  CHECK(ended.exit_code == 0);
  CHECK_THAT(ended.out, Contains("::error::forged"));  // shown on the console while commands are disabled
  CHECK(obeyed_part(ended.out).starts_with("::error title=fail%3A Evil.test::bad ::warning::forged%0Aagain: "));
  CHECK(obeyed_part(ended.out).find("\n::") == std::string::npos);
}

TEST_CASE("an earlier run gives the same reports", "[github]") {
  const Sandbox sandbox(distrun_program());
  const std::string stem = sandbox.output() + "/";
  sandbox.run({"run", "--output", sandbox.output(), "--ctrf", stem + "ctrf.json", "--retries", "1", plugin("fails")});
  const Ended ended =
      sandbox.run({"show", "--ctrf", stem + "again.ctrf.json", "--junit", stem + "again.xml", stem + "summary.json"});
  CHECK(ended.exit_code == 0);
  CHECK_THAT(ended.out, Contains("fail: Fails.require"));
  CHECK(read_file(stem + "again.ctrf.json") == read_file(stem + "ctrf.json"));
  CHECK(junit_without_times(read_file(stem + "again.xml")) == junit_without_times(read_file(stem + "junit.xml")));
  CHECK(wrong_with_reports(sandbox) == "");
}

TEST_CASE("a report of an earlier run on standard output replaces the text", "[github]") {
  const Sandbox sandbox(distrun_program());
  sandbox.run({"run", "--output", sandbox.output(), plugin("passes")});
  const Ended ended = sandbox.run({"show", "--ctrf", "-", sandbox.output() + "/summary.json"});
  CHECK(ended.exit_code == 0);
  CHECK(wrong_with_json(ended.out) == "");
  const Ended full = sandbox.run({"show", "--ctrf", "/dev/full", sandbox.output() + "/summary.json"});
  CHECK(full.exit_code == kInfraError);
  CHECK_THAT(full.err, Contains("cannot write /dev/full"));
}
