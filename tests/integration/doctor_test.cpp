// distrun doctor on real hung processes, on a run in progress, and on a program that it starts.
#include <catch2/catch.hpp>

#include <signal.h>

#include <regex>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "programs.hpp"

namespace {

using namespace distrun::testing;
using Catch::Contains;

constexpr milliseconds kSoon{20'000};

// A program that hangs in one of the ways of hung_program.cpp, and what the doctor says of it.
class Patient {
 public:
  explicit Patient(std::vector<std::string> how) : running_(command(sandbox_, std::move(how))) {}
  ~Patient() { sandbox_.sweep(); }
  Patient(const Patient&) = delete;
  Patient& operator=(const Patient&) = delete;

  pid_t pid() const { return running_.pid(); }
  Ended examine(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words{"doctor", "--pid", std::to_string(pid())};
    words.insert(words.end(), more.begin(), more.end());
    Command asked = sandbox_.command(std::move(words));
    asked.capture = sandbox_.output() + "/asked";
    return Running(asked).wait(at_latest(kSoon));
  }
  // Examines the program until it hangs.
  Ended examine_hung(const std::vector<std::string>& more = {}) const {
    Ended ended;
    eventually(at_latest(kSoon), [&] {
      ended = examine(more);
      return ended.exit_code == 1;
    });
    return ended;
  }

 private:
  static Command command(const Sandbox& sandbox, std::vector<std::string> how) {
    Command program = sandbox.command(std::move(how));
    program.program = DISTRUN_HUNG_PROGRAM;
    return program;
  }

  Sandbox sandbox_{distrun_program()};
  Running running_;
};

std::string line(const std::string& text, std::size_t number) {
  std::size_t at = 0;
  for (; number > 0; --number) at = text.find('\n', at) + 1;
  return text.substr(at, text.find('\n', at) - at);
}

bool matches(const std::string& text, const std::string& pattern) {
  return std::regex_match(text, std::regex(pattern));
}

Ended doctor_of_program(const Sandbox& sandbox, std::vector<std::string> options, std::vector<std::string> program) {
  std::vector<std::string> words{"doctor"};
  words.insert(words.end(), options.begin(), options.end());
  words.push_back("--");
  words.insert(words.end(), program.begin(), program.end());
  return sandbox.run(std::move(words), at_latest(kSoon));
}

}  // namespace

TEST_CASE("doctor proves the deadlock of two threads, and names both, their mutexes and places", "[doctor]") {
  const Patient patient({"mutexes"});
  const Ended told = patient.examine_hung();
  INFO(told.out << told.err);
  CHECK(told.exit_code == 1);
  const std::string pid = std::to_string(patient.pid());
  CHECK(line(told.out, 0) == "deadlock (proven): threads of process " + pid + " (hung_program) wait for each other");
  CHECK(
      matches(line(told.out, 1), "process " + pid +
                                     " \\(hung_program\\) waits [^,]*mutex 0x[0-9a-f]+ \\(hung_program.cpp:[0-9]+\\), "
                                     "held by its thread [0-9]+ \\(worker\\), which waits [^,]*mutex 0x[0-9a-f]+ "
                                     "\\(hung_program.cpp:[0-9]+\\), held by its main thread"));
  CHECK(matches(line(told.out, 2),
                "look at hung_program.cpp:[0-9]+ \\(hung::lock_both\\), thread " + pid + " .* of process " + pid));
  CHECK_THAT(told.out, Contains("evidence: the same waits were seen in two snapshots") && Contains("hung::lock_both"));
}

TEST_CASE("doctor names the thread that sleeps with a lock, and what would contradict that", "[doctor]") {
  const Patient patient({"sleeper"});
  const Ended told = patient.examine_hung();
  INFO(told.out << told.err);
  CHECK(told.exit_code == 1);
  CHECK(matches(line(told.out, 0),
                "lock not released \\(likely\\): thread [0-9]+ \\(holder\\) of process [0-9]+ "
                "\\(hung_program\\) sleeps in .*; its main thread waits for it"));
  CHECK(matches(line(told.out, 2), "look at hung_program.cpp:[0-9]+ \\(hung::sleep_with_lock\\), thread .*"));
  CHECK_THAT(told.out, Contains("contradicted if a later snapshot finds"));
}

TEST_CASE("doctor finds a deadlock of two processes over files, if it is given one of them or both", "[doctor]") {
  const Sandbox files(distrun_program());
  const Patient patient({"locks", files.temp() + "/one", files.temp() + "/other"});
  const Ended told = patient.examine_hung();
  INFO(told.out << told.err);
  const std::vector<pid_t> children = children_of(patient.pid());
  REQUIRE(children.size() == 1);
  CHECK(matches(line(told.out, 0),
                "deadlock \\(likely\\): processes [0-9]+ \\(.*\\) and [0-9]+ \\(.*\\) wait for each "
                "other"));
  CHECK_THAT(line(told.out, 1), Contains("flock") && Contains("/one") && Contains("/other"));
  const Ended both = patient.examine_hung({std::to_string(children.front())});
  CHECK(both.exit_code == 1);
  CHECK_THAT(line(both.out, 0), Contains("deadlock (likely)"));  // an alarm may end one of them
}

TEST_CASE("doctor finds two processes that read each other's pipes", "[doctor]") {
  const Patient patient({"pipes"});
  const Ended told = patient.examine_hung();
  INFO(told.out << told.err);
  CHECK_THAT(line(told.out, 0), Contains("deadlock (likely): processes"));
  CHECK_THAT(line(told.out, 1), Contains("read(") && Contains("pipe"));
}

TEST_CASE("doctor raises no alarm for a program that computes", "[doctor]") {
  const Patient patient({"computes"});
  const Ended told = patient.examine();
  INFO(told.out << told.err);
  CHECK(told.exit_code == 0);
  CHECK_THAT(line(told.out, 0), Contains("no hang was found"));
}

TEST_CASE("doctor raises no alarm for threads that hand a mutex to each other", "[doctor]") {
  const Patient patient({"contends"});
  const Ended told = patient.examine();
  INFO(told.out << told.err);
  CHECK(told.exit_code == 0);
}

TEST_CASE("doctor says which process it cannot look at, and why", "[doctor]") {
  const Ended told = Sandbox(distrun_program()).run({"doctor", "--pid", "999999999"});
  CHECK(told.exit_code == 3);
  CHECK_THAT(told.out, Contains("cannot look at process 999999999: there is no such process"));
}

TEST_CASE("doctor writes causes and stacks as JSON", "[doctor]") {
  const Patient patient({"mutexes"});
  const Ended told = patient.examine_hung({"--json", "-"});
  INFO(told.out << told.err);
  const nlohmann::json json = nlohmann::json::parse(told.out);
  CHECK(json["schema"] == "distrun.doctor/1");
  CHECK(json["run_id"].is_null());
  CHECK(json["finding"] == "hang");
  const nlohmann::json& test = json["tests"].at(0);
  const nlohmann::json& cause = test["hang_causes"].at(0);
  CHECK(cause["kind"] == "deadlock");
  CHECK(cause["certainty"] == "proven");
  CHECK(cause["pid"] == patient.pid());
  CHECK(cause["chain"].size() == 3);
  CHECK(test["snapshot"]["processes"].at(0)["threads"].size() == 2);
}

TEST_CASE("doctor explains a run in progress, which continues", "[doctor]") {
  const Sandbox sandbox(distrun_program());
  Running running = sandbox.start({"run", "--timeout", "100s", "--filter", "Hangs.one_sleeps", plugin("hangs")});
  const std::string file = sandbox.output() + "/doctor.json";
  Ended told;
  eventually(at_latest(kSoon), [&] {
    const std::string run = sandbox.run_id_in_use();
    if (run.empty()) return false;
    Command asked = sandbox.command({"doctor", run, "--json", file});
    asked.capture = sandbox.output() + "/asked";
    told = Running(asked).wait(at_latest(kSoon));
    return told.exit_code == 1 && told.out.find("ranks 0, 2-3 wait for it") != std::string::npos;
  });
  INFO(told.out << told.err);
  CHECK(told.exit_code == 1);
  CHECK_THAT(line(told.out, 0), Contains("Hangs.one_sleeps after"));
  CHECK(matches(line(told.out, 1),
                "missing rank \\(likely\\): rank 1 sleeps in clock_nanosleep \\(misbehave.hpp:[0-9]+\\); "
                "ranks 0, 2-3 wait for it in barrier \"meet\""));
  CHECK_THAT(told.out, Contains("look at misbehave.hpp:") && Contains("fixture::nap"));
  const nlohmann::json json = nlohmann::json::parse(read_file(file));
  CHECK(json["tests"].at(0)["test"] == "Hangs.one_sleeps");
  CHECK(json["tests"].at(0)["hang_causes"].at(0)["kind"] == "missing-rank");
  running.signal(SIGINT);
  CHECK(running.wait(at_latest(kSoon)).exit_code == 130);
  sandbox.sweep();
}

TEST_CASE("doctor starts a program, explains its hang, and leaves nothing behind", "[doctor]") {
  const Sandbox sandbox(distrun_program());
  const Ended told = doctor_of_program(sandbox, {"--after", "2s"}, {DISTRUN_HUNG_PROGRAM, "mutexes"});
  INFO(told.out << told.err);
  CHECK(told.exit_code == 1);
  CHECK_THAT(line(told.out, 0), Contains("deadlock (proven)"));
  CHECK(sandbox.remains() == std::vector<std::string>{});
}

TEST_CASE("doctor ends a program that does not hang, with what it has started", "[doctor]") {
  const Sandbox sandbox(distrun_program());
  const Ended told = doctor_of_program(sandbox, {"--after", "500ms"},
                                       {"/bin/sh", "-c", std::string(DISTRUN_HUNG_PROGRAM) + " computes & wait"});
  INFO(told.out << told.err);
  CHECK(told.exit_code == 0);
  CHECK(sandbox.remains() == std::vector<std::string>{});
}

TEST_CASE("doctor lets a program that does not hang end, and shows its output", "[doctor]") {
  const Sandbox sandbox(distrun_program());
  const Ended told = doctor_of_program(sandbox, {}, {"/bin/sh", "-c", "echo hello; exit 7"});
  CHECK(told.exit_code == 0);
  CHECK(told.out == "hello\n");
  CHECK_THAT(told.err, Contains("/bin/sh exited with code 7 after") && Contains("it did not hang"));
  const Ended none = doctor_of_program(sandbox, {}, {"/no/such/program"});
  CHECK(none.exit_code == 3);
  CHECK_THAT(none.err, Contains("cannot run /no/such/program"));
}

TEST_CASE("an interrupted doctor ends its program", "[doctor]") {
  const Sandbox sandbox(distrun_program());
  Running running = sandbox.start({"doctor", "--after", "100s", "--", DISTRUN_HUNG_PROGRAM, "computes"});
  const auto has_begun = [&] {
    for (const ProcessInfo& process : sandbox.processes()) {
      if (process.name == "hung_program") return true;
    }
    return false;
  };
  REQUIRE(eventually(at_latest(kSoon), has_begun));
  running.signal(SIGINT);
  CHECK(running.wait(at_latest(kSoon)).exit_code == 130);
  CHECK(sandbox.remains() == std::vector<std::string>{});
}

TEST_CASE("doctor refuses what it cannot combine", "[doctor]") {
  const Sandbox sandbox(distrun_program());
  const std::vector<std::pair<std::vector<std::string>, std::string>> refused{
      {{"3f9c", "--pid", "1"}, "cannot be combined"},
      {{"--pid", "1", "--", "true"}, "cannot be combined"},
      {{"--pid", "0"}, "--pid 0"},
      {{"--after", "5s"}, "--after needs a program"},
      {{"--after", "soon", "--", "true"}, "--after soon"},
      {{"3f9c", "true"}, "write the program after --"},
      {{"--"}, "the program is missing"},
  };
  for (const auto& [words, message] : refused) {
    std::vector<std::string> all{"doctor"};
    all.insert(all.end(), words.begin(), words.end());
    const Ended ended = sandbox.run(all);
    INFO(ended.err);
    CHECK(ended.exit_code == 2);
    CHECK_THAT(ended.err, Contains(message));
  }
}
