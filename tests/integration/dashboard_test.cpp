// The commands of examples/dashboard/README.md print what the page shows, and the programs that they feed find all they
// need.
#include <catch2/catch.hpp>

#include <filesystem>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "programs.hpp"
#include "support/skip.hpp"

namespace {

using namespace distrun::testing;
using Catch::Contains;

const std::string kFolder = DISTRUN_SOURCE_DIR "/examples/dashboard";

std::vector<std::string> status_lines(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    lines.push_back(text.substr(from, end - from));
    from = end + 1;
  }
  return lines;
}

struct Step {
  std::string command;
  std::string shown;  // the output shown on the page
};

// Returns the commands of all console blocks, in order.
std::vector<Step> steps_of_readme() {
  std::vector<Step> steps;
  bool in_block = false;
  for (const std::string& line : status_lines(read_file(kFolder + "/README.md"))) {
    if (line.starts_with("```")) {
      in_block = line == "```console";
    } else if (in_block && line.starts_with("$ ")) {
      steps.push_back({line.substr(2), ""});
    } else if (in_block && !steps.empty()) {
      steps.back().shown += line + "\n";
    }
  }
  return steps;
}

// Removes what differs between runs and machines.
std::string without_numbers(std::string text) {
  const std::string source = DISTRUN_SOURCE_DIR "/";
  for (std::size_t at = text.find(source); at != std::string::npos; at = text.find(source)) {
    text.erase(at, source.size());
  }
  return std::regex_replace(text, std::regex("--seed [0-9]+"), "--seed N");
}

// Returns the shell commands in the example of a CI: setup, build, test.
std::vector<std::string> commands_of_ci(const std::string& text) {
  const std::regex command("^ *(?:run: |- |sh ')((?:scripts/setup|cmake |build/bin/).*?)'?$");
  std::vector<std::string> commands;
  for (const std::string& line : status_lines(text)) {
    std::smatch part;
    if (std::regex_match(line, part, command)) commands.push_back(part[1]);
  }
  return commands;
}

// A directory in which the page's commands find their files.
class Workplace {
 public:
  Workplace() : sandbox_(distrun_program()) {
    namespace fs = std::filesystem;
    for (const char* folder : {"examples", "scripts"}) {
      fs::create_directory_symlink(fs::path(DISTRUN_SOURCE_DIR) / folder, sandbox_.start_directory() + "/" + folder);
    }
    fs::create_directory_symlink(fs::path(distrun_program()).parent_path().parent_path(),
                                 sandbox_.start_directory() + "/build");
  }

  // Runs a command with distrun in PATH, as the page says.
  Ended shell(const std::string& command) const {
    const std::string programs = std::filesystem::path(distrun_program()).parent_path().string();
    return run(command, programs + ":");
  }
  // Runs a command without distrun in PATH, as on a CI machine.
  Ended fresh_shell(const std::string& command) const { return run(command, ""); }
  void needs_jq() const {
    skip_case_if(shell("command -v jq").exit_code != 0, "jq is not installed (scripts/setup installs it)");
  }
  std::string path(const std::string& name) const { return sandbox_.start_directory() + "/" + name; }

 private:
  Ended run(const std::string& command, const std::string& programs) const {
    Command bash = sandbox_.command({"-c", command});
    bash.program = "/bin/bash";
    std::erase_if(bash.environment, [](const std::string& entry) { return entry.starts_with("PATH="); });
    bash.environment.push_back("PATH=" + programs + "/usr/local/bin:/usr/bin:/bin");
    bash.environment.push_back("GITHUB_WORKSPACE=" DISTRUN_SOURCE_DIR);
    return Running(bash).wait(scaled(milliseconds(60'000)));
  }

  Sandbox sandbox_;
};

std::string metrics_of(const Workplace& workplace, const std::string& summary) {
  const Ended ended = workplace.shell("jq -r -f examples/dashboard/prometheus.jq " + summary);
  INFO(ended.err);
  REQUIRE(ended.exit_code == 0);
  return ended.out;
}

// Returns the names of metrics in `text`.
std::set<std::string> metrics_in(const std::string& text) {
  const std::regex name("distrun_[a-z_]+");
  std::set<std::string> names;
  for (std::sregex_iterator at(text.begin(), text.end(), name), end; at != end; ++at) names.insert(at->str());
  return names;
}

// Checks Prometheus' text format, as far as prometheus.jq uses it: HELP and TYPE of every metric, then its samples.
std::string wrong_with_metrics(const std::string& text) {
  const std::regex head("# (HELP|TYPE) (distrun_[a-z_]+) (.+)");
  const std::regex sample(R"re((distrun_[a-z_]+)\{([a-z_]+="([^"\\]|\\["\\n])*",?)+\} [0-9][0-9.e-]*)re");
  std::set<std::string> told;
  std::string current;
  for (const std::string& line : status_lines(text)) {
    std::smatch part;
    if (std::regex_match(line, part, head)) {
      if (part[1] == "HELP" && !told.insert(part[2]).second) return "told twice: " + line;
      if (part[1] == "TYPE" && part[2] != current) return "no HELP before: " + line;
      current = part[2];
    } else if (!std::regex_match(line, part, sample) || part[1] != current) {
      return "not a sample of " + current + ": " + line;
    }
  }
  return told.empty() ? "no metrics" : "";
}

}  // namespace

TEST_CASE("every command of the dashboards' page prints what the page shows", "[readme]") {
  const Workplace workplace;
  workplace.needs_jq();
  const std::vector<Step> steps = steps_of_readme();
  REQUIRE(steps.size() > 10);
  for (const Step& step : steps) {
    const Ended ended = workplace.shell(step.command);
    INFO("$ " << step.command << "\n" << ended.err);
    CHECK_FALSE(ended.out_of_time);
    CHECK(without_numbers(ended.out) == without_numbers(step.shown));
    CHECK(ended.exit_code == 0);
  }
}

TEST_CASE("the converter creates each metric of the Grafana dashboard", "[readme]") {
  const Workplace workplace;
  workplace.needs_jq();
  workplace.shell("distrun --retries 1 --json summary.json build/plugins/nightly.so");
  const std::string metrics = metrics_of(workplace, "summary.json");
  CHECK(wrong_with_metrics(metrics) == "");
  const std::string dashboard = read_file(kFolder + "/grafana-dashboard.json");
  CHECK(wrong_with_json(dashboard) == "");
  CHECK(metrics_in(dashboard) == metrics_in(metrics));
  for (const std::string& name : metrics_in(read_file(kFolder + "/README.md"))) {
    CHECK_THAT(metrics, Contains("# TYPE " + name + " "));
  }
}

TEST_CASE("metrics stay valid with any test names", "[readme]") {
  const Workplace workplace;
  workplace.needs_jq();
  write_file(workplace.path("summary.json"), R"({"started": "2026-01-31T12:00:00.000Z",
    "duration_ms": 1, "exit_code": 1, "problems": [],
    "machine": {"hostname": "a\"b"}, "settings": {"world_size": 1}, "totals": {"fail": 1},
    "tests": [{"id": "\"} 1\nforged 2 \\ \\n \u001b[31m \u0000", "suite": "{}", "plugin": "", "verdict": "fail",
               "duration_ms": 2.5, "world_size": 1, "attempts": [{"leaks": [], "culprits": [0]}]}]})");
  const std::string metrics = metrics_of(workplace, "summary.json");
  INFO(metrics);
  CHECK(wrong_with_metrics(metrics) == "");
  CHECK_THAT(metrics, Contains(R"(test="\"} 1\nforged 2 \\ \\n  [31m  ")"));
}

TEST_CASE("the examples for CI run the commands of the dashboards' page, and run unchanged", "[readme]") {
  std::string shown;
  for (const Step& step : steps_of_readme()) shown += step.command + "\n";
  for (const char* file : {"/github-workflow.yml", "/gitlab-ci.yml", "/Jenkinsfile"}) {
    const Workplace workplace;
    const std::vector<std::string> commands = commands_of_ci(read_file(kFolder + file));
    INFO(file);
    REQUIRE(commands.size() == 3);
    CHECK(commands[0] == "scripts/setup");
    CHECK(workplace.fresh_shell("test -x " + commands[0]).exit_code == 0);
    // Tries the build up to the point that determines the targets.
    const std::string configure = commands[1].substr(0, commands[1].find(" && "));
    CHECK(commands[1] == configure + " && cmake --build build");
    const Ended configured = workplace.fresh_shell("here=$PWD; cd -P examples/.. && " + configure +
                                                   " -B $here/made && cmake --build $here/made --target help");
    INFO(configured.out << configured.err);
    CHECK(configured.exit_code == 0);
    for (const char* target : {"nightly", "distrun", "distrun-rank", "distrun-probe"}) {
      CHECK_THAT(configured.out, Contains(std::string(target) + ": phony"));
    }
    const Ended tested = workplace.fresh_shell(commands[2]);
    INFO(tested.out << tested.err);
    CHECK(tested.exit_code == 1);
    CHECK_THAT(read_file(workplace.path("reports/junit.xml")), Contains("<testcase "));
    CHECK_THAT(shown, Contains(commands[2].substr(commands[2].find("distrun --"))));
  }
}
