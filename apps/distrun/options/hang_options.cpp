// The arguments of the commands that inspect running tests.
#include <CLI/CLI.hpp>

#include <climits>

#include "parsing.hpp"

namespace distrun::cli {
namespace {

constexpr char kRunHelp[] = "The run: the start of its id, as `distrun ps` shows it (default: the only one)";
constexpr char kStacksNotes[] = R"(
Examples:
  distrun stacks                  the run that goes on: what its ranks wait for, and their stacks
  distrun stacks 3f9c 2           rank 2 of the run whose id starts with 3f9c
  distrun stacks --pid 4711 4712  any processes: their stacks, and which pipes, sockets and locks
                                  connect them and who waits on which

Notes:
  Processes are stopped for a few milliseconds while their stacks are read, and go on as before.)";

}  // namespace

CommandLine parse_ps(const Arguments& arguments) {
  CommandLine line;
  CLI::App app("Shows what the ranks of running distruns do: a line per rank.", "distrun ps");
  app.add_option("run", line.ps.run, "Only this run: the start of its id")->type_name("RUN");
  app.add_flag("--rrefs", line.ps.references,
               "Also their references to values on other workers: who holds what, since when, from where, and cycles");
  app.add_flag("--json", line.ps.json, "Print it as JSON, waiting runs of the daemon too");
  if (!parse(app, arguments)) return line;
  if (line.ps.json && line.ps.references) refuse("ps: --rrefs cannot be combined with --json; leave one of them out");
  line.kind = CommandKind::Ps;
  return line;
}

CommandLine parse_stacks(const Arguments& arguments) {
  CommandLine line;
  std::string rank;
  std::string color = "auto";
  std::vector<std::string> pids;
  CLI::App app("Shows what ranks, or any processes, do at this moment: stacks of all threads, merged.",
               "distrun stacks");
  app.footer(kStacksNotes);
  app.add_option("run", line.stacks.run, kRunHelp)->type_name("RUN");
  app.add_option("rank", rank, "Only this rank")->type_name("RANK");
  app.add_option("--pid", pids, "Any processes instead of a run's ranks")->type_name("PID");
  app.add_option("--color", color, "Colours")->type_name(kColors)->capture_default_str();
  if (!parse(app, arguments)) return line;
  if (!rank.empty()) line.stacks.rank = number("RANK", rank, 0, INT_MAX);
  for (const std::string& pid : pids) line.stacks.pids.push_back(number("--pid", pid, 1, INT_MAX));
  if (!pids.empty() && !line.stacks.run.empty()) refuse("stacks: either a run or --pid is wanted, not both");
  line.stacks.color = color_of(color);
  line.kind = CommandKind::Stacks;
  return line;
}

CommandLine parse_cancel(const Arguments& arguments) {
  CommandLine line;
  CLI::App app(
      "Ends a run politely, as one Ctrl-C where it was started does: its reports are written and it exits "
      "with 130. Again, it hurries. A run that waits in the daemon does not start. On a terminal it asks before it "
      "ends a run that was started in another directory.",
      "distrun cancel");
  app.add_option("run", line.cancel.run, "The run: the start of its id, as `distrun ps` shows it; or all")
      ->required()
      ->type_name("RUN");
  app.add_flag("-y,--yes", line.cancel.yes, "Do not ask");
  if (parse(app, arguments)) line.kind = CommandKind::Cancel;
  return line;
}

CommandLine parse_attach(const Arguments& arguments) {
  CommandLine line;
  std::string rank;
  CLI::App app("Opens gdb on a live rank. No bound runs out while it is attached.", "distrun attach");
  app.add_option("run", line.attach.run, "The run: the start of its id, as `distrun ps` shows it")
      ->required()
      ->type_name("RUN");
  app.add_option("rank", rank, "The rank")->required()->type_name("RANK");
  app.add_option("--test", line.attach.test, "The test it runs, where several tests run at the same time")
      ->type_name("ID");
  if (!parse(app, arguments)) return line;
  line.attach.rank = number("RANK", rank, 0, INT_MAX);
  line.kind = CommandKind::Attach;
  return line;
}

}  // namespace distrun::cli
