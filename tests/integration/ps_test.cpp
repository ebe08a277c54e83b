// Concurrent runs: ps tells them apart, and cancel ends the right one.
#include <catch2/catch.hpp>

#include <signal.h>

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "programs.hpp"
#include "support/terminal_session.hpp"

namespace {

using namespace distrun::testing;
using Catch::Contains;

constexpr milliseconds kSoon{10'000};

// A program of three ranks that sleeps, in a separate sandbox.
struct Sleeping {
  explicit Sleeping(const std::string& name)
      : running(
            sandbox.start({"exec", "-w", "3", "--name", name, "--output", sandbox.output(), "--", "sleep", "100"})) {
    const auto asleep = [&] {
      std::size_t count = 0;
      for (const ProcessInfo& process : sandbox.processes()) count += process.name == "sleep" ? 1U : 0U;
      return count == 3;
    };
    REQUIRE(eventually(scaled(kSoon), asleep));
    id = sandbox.run_id_in_use();
  }
  bool is_cancelled() { return running.wait(scaled(kSoon)).exit_code == 130 && sandbox.summary().interrupted; }

  Sandbox sandbox{distrun_program()};
  Running running;
  std::string id;
};

// Returns the command as if typed in `directory`.
Command typed_in(const std::string& directory, const Sandbox& sandbox, std::vector<std::string> words) {
  Command command = sandbox.command(std::move(words));
  command.directory = directory;
  return command;
}

// Answers the question of `cancel` on a terminal in another directory.
Ended cancel_on_terminal(const Sleeping& run, const std::string& answer, std::string& question) {
  const Sandbox other(distrun_program());
  return answered(typed_in(other.start_directory(), other, {"cancel", run.id}), answer, question);
}

}  // namespace

TEST_CASE("ps lists runs with their commands, directories and start times, the oldest first", "[look]") {
  const Sleeping first("first");
  const Sleeping second("second");
  const Ended told = Sandbox(distrun_program()).run({"ps"});
  INFO(told.out);
  const std::size_t older = told.out.find("run " + first.id);
  const std::size_t newer = told.out.find("run " + second.id);
  REQUIRE(older != std::string::npos);
  REQUIRE(newer != std::string::npos);
  CHECK(older < newer);
  for (const Sleeping* run : {&first, &second}) {
    const std::string name = run == &first ? "first" : "second";
    CHECK_THAT(told.out, Contains("exec." + name + ", "));
    CHECK_THAT(told.out, Contains("exec -w 3 --name " + name + " --output " + run->sandbox.output() + " -- sleep 100"));
    CHECK_THAT(told.out, Contains(" ago in " + run->sandbox.start_directory() + "\n"));
  }
}

TEST_CASE("ps as JSON has the same contents as its text", "[look]") {
  const Sleeping run("by-json");
  nlohmann::json answer;
  // It takes a moment to detect that a rank has executed its program.
  REQUIRE(eventually(scaled(kSoon), [&] {
    const Ended told = run.sandbox.run({"ps", "--json", run.id});
    answer = nlohmann::json::parse(told.out);
    return told.exit_code == 0 && answer["runs"][0]["tests"][0]["ranks"][2]["doing"] == "body";
  }));
  CHECK(answer["schema"] == "distrun.ps/1");
  REQUIRE(answer["runs"].size() == 1);
  const nlohmann::json& shown = answer["runs"][0];
  CHECK(shown["run_id"] == run.id);
  CHECK(shown["directory"] == run.sandbox.start_directory());
  CHECK(shown["command_line"][1] == "exec");
  CHECK_THAT(shown["plugins"][0].get<std::string>(), Catch::EndsWith("/sleep"));
  CHECK_THAT(shown["started"].get<std::string>(), Catch::Matches("20[0-9]{2}-.*Z"));
  CHECK(shown["tests"][0]["id"] == "exec.by-json");
  CHECK(shown["tests"][0]["ranks"].size() == 3);
  CHECK(run.sandbox.run({"ps", "--json", "--rrefs"}).exit_code == 2);
}

TEST_CASE("cancel asks on a terminal before it ends a run of another directory", "[look]") {
  Sleeping run("precious");
  std::string question;
  const Ended left = cancel_on_terminal(run, "n\n", question);
  CHECK_THAT(question, Contains("was started in another directory") && Contains("--name precious") &&
                           Contains("ago in " + run.sandbox.start_directory()));
  CHECK(left.exit_code == 0);
  CHECK_THAT(left.out, Contains("run " + run.id + " continues"));
  CHECK_FALSE(run.running.ends_within(milliseconds(300)));
  CHECK_THAT(cancel_on_terminal(run, "y\n", question).out, Contains("run " + run.id + " is ending: "));
  CHECK(run.is_cancelled());
}

TEST_CASE("cancel does not ask in the run's own directory, with --yes, or without a terminal", "[look]") {
  const std::string way = GENERATE("directory", "yes", "no terminal");
  INFO(way);
  Sleeping run("plain");
  const Sandbox other(distrun_program());
  const std::string directory = way == "directory" ? run.sandbox.start_directory() : other.start_directory();
  std::vector<std::string> words{"cancel", run.id};
  if (way == "yes") words.push_back("--yes");
  const Command command = typed_in(directory, other, words);
  const Ended ended =
      way == "no terminal" ? Running(command).wait(scaled(kSoon)) : TerminalSession(command).wait(scaled(kSoon));
  CHECK(ended.exit_code == 0);
  CHECK_THAT(ended.out, Contains("run " + run.id + " is ending: "));
  CHECK_THAT(ended.out, !Contains("[y/N]"));
  CHECK(run.is_cancelled());
}

TEST_CASE("a failed program has its last output in the reports, and its name is its script's or its user's", "[exec]") {
  const Sandbox sandbox(distrun_program());
  const std::string script = sandbox.start_directory() + "/solve.sh";
  write_file(script, "i=0; while [ $i -lt 60 ]; do i=$((i + 1)); echo \"line $i\" >&2; done; exit 3\n");
  const Ended failed = sandbox.run({"exec", "-w", "1", "--output", sandbox.output(), "--", "/bin/sh", script});
  CHECK(failed.exit_code == 1);
  const TestResult test = sandbox.summary().tests.at(0);
  CHECK(test.id == "exec.solve_sh");
  CHECK_THAT(test.attempts.at(0).ranks.at(0).err, Contains("bytes left out here]\nline 11\n") && Contains("line 60\n"));
  CHECK(wrong_with_reports(sandbox).empty());
  CHECK_THAT(read_file(sandbox.output() + "/junit.xml"), Contains("line 60"));
  const std::size_t shown = failed.err.find("line 60");
  REQUIRE(shown != std::string::npos);
  CHECK(failed.err.find("line 60", shown + 1) == std::string::npos);  // it was shown when it was printed
  CHECK_THAT(sandbox.run({"show", sandbox.output() + "/summary.json"}).out, Contains("line 60"));
  const Ended named =
      sandbox.run({"exec", "-w", "1", "--name", "solver-2", "--output", sandbox.output(), "--", "/bin/sh", script});
  CHECK(sandbox.summary().tests.at(0).id == "exec.solver-2");
  CHECK_THAT(named.err, Contains("--name solver-2 -- /bin/sh"));
  CHECK(sandbox.run({"exec", "--name", "a b", "--", "/bin/true"}).exit_code == 2);
}
