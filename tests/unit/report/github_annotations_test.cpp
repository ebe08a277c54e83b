#include <catch2/catch.hpp>

#include <map>

#include <distrun/common/base/text.hpp>
#include <distrun/runner/report/github/github_annotations.hpp>
#include <distrun/runner/report/github/github_command.hpp>

#include "nasty.hpp"
#include "samples.hpp"
#include "scratch.hpp"

using namespace distrun;
using namespace distrun::report;
using namespace distrun::report::samples;
using Catch::Contains;

namespace {

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
  return text;
}

std::string unescaped(std::string text) {
  for (const auto& [what, with] :
       std::map<std::string, std::string>{{"%0D", "\r"}, {"%0A", "\n"}, {"%3A", ":"}, {"%2C", ","}}) {
    text = replaced(text, what, with);
  }
  return replaced(text, "%25", "%");
}

struct Command {
  std::string name;
  std::map<std::string, std::string> properties;
  std::string text;
};

// Parses a line like GitHub's runner.
Command obeyed(const std::string& line) {
  REQUIRE(line.starts_with("::"));
  const std::size_t end = line.find("::", 2);
  REQUIRE(end != std::string::npos);
  const std::string head = line.substr(2, end - 2);
  Command command{head.substr(0, head.find(' ')), {}, unescaped(line.substr(end + 2))};
  if (head.find(' ') == std::string::npos) return command;
  std::string rest = head.substr(head.find(' ') + 1) + ",";
  for (std::size_t comma = rest.find(','); comma != std::string::npos; comma = rest.find(',')) {
    const std::size_t equals = rest.find('=');
    REQUIRE(equals < comma);
    command.properties[rest.substr(0, equals)] = unescaped(rest.substr(equals + 1, comma - equals - 1));
    rest.erase(0, comma + 1);
  }
  return command;
}

// GitHub's runner ends lines at carriage returns, too.
std::vector<Command> all_obeyed(const std::string& text) {
  std::vector<Command> commands;
  for (const std::string& line : base::split_lines(replaced(text, "\r", "\n"))) commands.push_back(obeyed(line));
  return commands;
}

Command only_command_of(const runner::RunRecord& run, const GithubAnnotationOptions& options = {}) {
  const std::vector<Command> commands = all_obeyed(github_annotations(run, options));
  REQUIRE(commands.size() == 1);
  return commands.front();
}

runner::TestRecord failing_at(std::uint32_t line) {
  runner::TestRecord test = failing();
  test.info.name += std::to_string(line);
  test.message += std::to_string(line);
  test.attempts[0].ranks[2].errors[0].line = line;
  return test;
}

}  // namespace

TEST_CASE("a command escapes the characters that GitHub would read as its end", "[report]") {
  CHECK(github_command("error", {{"file", "a:b,c%d"}, {"line", ""}, {"title", "x\ny"}}, "1%\n2::3,4") ==
        "::error file=a%3Ab%2Cc%25d,title=x%0Ay::1%25%0A2::3,4\n");
  CHECK(github_command("notice", {}, "text") == "::notice::text\n");
  CHECK(github_stop_commands("abc") == "::stop-commands::abc\n");
  CHECK(github_resume_commands("abc") == "::abc::\n");
}

TEST_CASE("annotations of a run are in the order of their urgency", "[report]") {
  const std::string now = github_annotations(full_run(), {"", true});
  INFO("DISTRUN_UPDATE_GOLDEN=1 rewrites tests/golden/report/github_annotations.txt");
  CHECK(golden("github_annotations.txt", now) == now);
}

TEST_CASE("an annotation is at the place of the failed check, and says how to repeat the test", "[report]") {
  const Command command = only_command_of(run_of(failing()));
  CHECK(command.name == "error");
  CHECK(command.properties == std::map<std::string, std::string>{
                                  {"file", "plugins/ring/ring.cpp"}, {"line", "41"}, {"title", "fail: Ring.gather"}});
  CHECK(command.text ==
        "rank 2 failed: sum == 6 left: 5, right: 6 (plugins/ring/ring.cpp:41)\n"
        "again: distrun --world-size 4 --filter Ring.gather --seed 17 build/plugins/ring.so");
}

TEST_CASE("an annotation is where the culprit crashed, not where others noticed it", "[report]") {
  runner::TestRecord test = crashing();
  test.attempts[0].ranks[1].errors[0] = {"SIGSEGV", "invalid address 0x8", "ring.cpp", 77, "", true, -1, {}, true};
  CHECK(only_command_of(run_of(test)).properties["file"] == "ring.cpp");
  CHECK(only_command_of(run_of(test)).properties["line"] == "77");
}

TEST_CASE("an annotation without a place is at the declaration of the test", "[report]") {
  CHECK(only_command_of(run_of(timing_out())).properties["line"] == "40");
  runner::TestRecord nowhere = timing_out();
  nowhere.info.file.clear();
  CHECK(only_command_of(run_of(nowhere)).properties.count("file") == 0);
  CHECK(only_command_of(run_of(nowhere)).properties.count("line") == 0);
}

TEST_CASE("paths are relative to the workspace if they are in it", "[report]") {
  const auto told = [](const std::string& file, const std::string& workspace) {
    runner::TestRecord test = failing();
    test.attempts[0].ranks[2].errors[0].file = file;
    return only_command_of(run_of(test), {workspace, false}).properties["file"];
  };
  CHECK(told("/ci/project/src/a.cpp", "/ci/project") == "src/a.cpp");
  CHECK(told("/ci/project/build/../src/a.cpp", "/ci/project/") == "src/a.cpp");
  CHECK(told("/ci/project-2/a.cpp", "/ci/project") == "/ci/project-2/a.cpp");
  CHECK(told("/usr/include/a.h", "/ci/project") == "/usr/include/a.h");
  CHECK(told("src/a.cpp", "/ci/project") == "src/a.cpp");
  CHECK(told("/ci/project/a.cpp", "") == "/ci/project/a.cpp");
}

TEST_CASE("leaks and flaky tests are warnings, skips are notices on request", "[report]") {
  CHECK(only_command_of(run_of(leaking())).name == "warning");
  CHECK(only_command_of(run_of(flaky())).name == "warning");
  CHECK(github_annotations(run_of(skipped()), {}).empty());
  const Command notice = only_command_of(run_of(skipped()), {"", true});
  CHECK(notice.name == "notice");
  CHECK(notice.text == "needs 2 GPUs, 0 are there");
  CHECK(github_annotations(run_of(passing()), {"", true}).empty());
  CHECK(github_annotations(run_of(cancelled()), {"", true}).empty());
}

TEST_CASE("failures at one place for one reason are one annotation", "[report]") {
  runner::RunRecord run = empty_run();
  for (int i = 0; i < 3; ++i) {
    runner::TestRecord test = failing();
    test.info.name += std::to_string(i);
    add(run, test);
  }
  const Command command = only_command_of(run);
  CHECK(command.properties.at("title") == "fail: Ring.gather0 and 2 more");
  CHECK_THAT(command.text, Contains("\nalso: Ring.gather1, Ring.gather2\n"));
}

TEST_CASE("annotations beyond GitHub's limit are counted", "[report]") {
  runner::RunRecord run = empty_run();
  for (std::uint32_t line = 1; line <= 13; ++line) add(run, failing_at(line));
  add(run, crashing());
  for (std::uint32_t line = 1; line <= 11; ++line) {
    runner::TestRecord test = leaking();
    test.info.line = line;
    add(run, test);
  }
  const std::vector<Command> commands = all_obeyed(github_annotations(run, {}));
  REQUIRE(commands.size() == 21);
  CHECK(commands[0].properties.at("title") == "crash: Ring.scatter");
  CHECK(commands[9].name == "error");
  CHECK(commands[10].name == "warning");
  CHECK(commands[20].name == "notice");
  CHECK_THAT(commands[20].text, Contains("4 errors and 1 warning left out"));
}

TEST_CASE("a problem is an error without a place, before all tests", "[report]") {
  const std::vector<Command> commands = all_obeyed(github_annotations(full_run(), {}));
  CHECK(commands[0].name == "error");
  CHECK(commands[0].properties == std::map<std::string, std::string>{{"title", "problem: list build/plugins/torn.so"}});
  CHECK(commands[0].text == "cannot load it: undefined symbol: f");
}

TEST_CASE("any text of a test is one command with the same text", "[report]") {
  const auto seed = GENERATE(1U, 2U, 3U);
  for (const std::string& nasty : nasty_texts(seed)) {
    const std::string text = github_annotations(run_of(test_saying(nasty)), {"/ci", true});
    INFO(text);
    REQUIRE(text == base::valid_utf8(text));
    const std::vector<Command> commands = all_obeyed(text);
    REQUIRE(commands.size() == 1);
    CHECK(commands[0].name == "error");
    for (const auto& [key, value] : commands[0].properties) {
      CHECK((key == "file" || key == "line" || key == "title"));
      if (key == "line") CHECK(value == (nasty.empty() ? "40" : "41"));
    }
    const std::string cause = nasty.empty() ? "fail" : base::one_line(nasty, 1500);
    CHECK(commands[0].text.starts_with(cause + "\nagain: "));
  }
}

TEST_CASE("a message of any size stays below GitHub's limit", "[report]") {
  const std::string huge(1U << 20U, 'x');
  runner::RunRecord run = empty_run();
  for (int i = 0; i < 300; ++i) {
    runner::TestRecord test = failing();
    test.info.name = std::string(100, 'n') + std::to_string(i);
    test.message = huge;
    add(run, test);
  }
  const Command command = only_command_of(run);
  CHECK(command.text.size() < 4096);
  CHECK_THAT(command.properties.at("title"), Contains(" and 299 more"));
}
