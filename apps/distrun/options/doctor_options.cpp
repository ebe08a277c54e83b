// The arguments of `distrun doctor`.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <climits>

#include <distrun/common/base/duration.hpp>

#include "parsing.hpp"

namespace distrun::cli {
namespace {

constexpr char kDoctorNotes[] = R"(
Examples:
  distrun doctor                     why the ranks of the only current run hang
  distrun doctor --pid 4711 4712     why two processes hang, with those that they have started
  distrun doctor --after 30s -- ./solver --steps 100
  distrun doctor --json - --pid 4711 | jq -r '.tests[].hang_causes[].text[]'

Notes:
  Takes two snapshots a moment apart, without changing what the processes do. Prints the first
  cause in three lines (what, the chain of waits, where to look), its evidence and what would
  contradict it, then other causes, then all stacks. A cause is proven, likely or unknown.
  PROGRAM reads from /dev/null. If it stops using CPU, it is examined before TIME, and a proven
  deadlock is reported at once. Afterwards PROGRAM and all that it has started are killed.

Exit codes:
  0    no hang: what was seen makes progress, sleeps or computes, or PROGRAM has ended in time
  1    a hang with a proven or likely cause
  2    the command line is invalid
  3    a process could not be looked at, and none of the others hangs; or PROGRAM cannot be run
  4    something waits, and its cause is not known
  130  interrupted)";

// Removes the words from "--" on. Returns those after it.
std::vector<std::string> take_program(Arguments& arguments) {
  const auto dashes = std::find(arguments.words.begin(), arguments.words.end(), "--");
  if (dashes == arguments.words.end()) return {};
  if (dashes + 1 == arguments.words.end()) refuse("doctor: the program is missing after --");
  std::vector<std::string> program(dashes + 1, arguments.words.end());
  arguments.words.erase(dashes, arguments.words.end());
  return program;
}

void check_forms(const DoctorOptions& options, const std::string& after) {
  const int forms = static_cast<int>(!options.run.empty()) + static_cast<int>(!options.pids.empty()) +
                    static_cast<int>(!options.program.empty());
  if (forms > 1) refuse("doctor: RUN, --pid and -- PROGRAM cannot be combined; give one of them");
  if (!after.empty() && options.program.empty()) refuse("doctor: --after needs a program: -- PROGRAM [ARGUMENT...]");
}

}  // namespace

CommandLine parse_doctor(const Arguments& given) {
  Arguments arguments = given;
  CommandLine line;
  DoctorOptions& options = line.doctor;
  std::string after;
  std::string color = "auto";
  std::vector<std::string> pids;
  std::vector<std::string> misplaced;
  CLI::App app("Says why ranks, any processes or a program hang: the culprit, the chain of waits, where to look.",
               "distrun doctor");
  app.footer(kDoctorNotes);
  app.add_option("RUN", options.run, "The run, by the start of its id as in `distrun ps` (default: the only one)")
      ->type_name("RUN");
  app.add_option("PROGRAM", misplaced, "Start this program, and examine it if it does not end")->type_name(kProgram);
  app.add_option("--pid", pids, "Examine these processes and those that they have started")->type_name("PID");
  app.add_option("--after", after, "Examine PROGRAM after TIME at the latest (default 10s)")->type_name("TIME");
  app.add_option("--json", options.json, "Write causes and stacks to FILE as JSON; -: to standard output, without text")
      ->type_name("FILE");
  app.add_option("--color", color, "Colours")->type_name(kColors)->capture_default_str();
  options.program = take_program(arguments);
  if (!parse(app, arguments)) return line;
  if (!misplaced.empty()) refuse("doctor " + misplaced.front() + ": unexpected word; write the program after --");
  for (const std::string& pid : pids) options.pids.push_back(number("--pid", pid, 1, INT_MAX));
  check_forms(options, after);
  if (!after.empty()) options.after = base::parse_duration("--after", after);
  options.color = color_of(color);
  line.kind = CommandKind::Doctor;
  return line;
}

}  // namespace distrun::cli
