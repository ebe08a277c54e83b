// The arguments of the commands that inspect running tests.
#include <CLI/CLI.hpp>

#include <climits>

#include "parsing.hpp"

namespace distrun::cli {
namespace {

constexpr char kRunHelp[] = "The run, by the start of its id as in `distrun ps` (default: the only one)";
constexpr char kStacksNotes[] = R"(
Examples:
  distrun stacks                  waits and stacks of the ranks of the only current run
  distrun stacks 3f9c 2           rank 2 of the run with an id that starts with 3f9c
  distrun stacks --pid 4711 4712  stacks of any processes, the pipes, sockets and locks that
                                  connect them, and which of these each process waits for

Notes:
  Processes are stopped for a few milliseconds while their stacks are read, then continue.)";

}  // namespace

CommandLine parse_ps(const Arguments& arguments) {
  CommandLine line;
  CLI::App app("Shows what the ranks of all current runs do, one line per rank.", "distrun ps");
  app.add_option("RUN", line.ps.run, "Show only this run, by the start of its id")->type_name("RUN");
  app.add_flag("--rrefs", line.ps.references,
               "Also show their references to values on other workers: holder, owner, age, origin and cycles");
  app.add_flag("--json", line.ps.json, "Print JSON");
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
  CLI::App app("Shows what ranks, or any processes, do now: merged stacks of all threads.", "distrun stacks");
  app.footer(kStacksNotes);
  app.add_option("RUN", line.stacks.run, kRunHelp)->type_name("RUN");
  app.add_option("RANK", rank, "Show only this rank")->type_name("RANK");
  app.add_option("--pid", pids, "Show these processes instead of a run's ranks")->type_name("PID");
  app.add_option("--color", color, "Colours")->type_name(kColors)->capture_default_str();
  if (!parse(app, arguments)) return line;
  if (!rank.empty()) line.stacks.rank = number("RANK", rank, 0, INT_MAX);
  for (const std::string& pid : pids) line.stacks.pids.push_back(number("--pid", pid, 1, INT_MAX));
  if (!pids.empty() && !line.stacks.run.empty())
    refuse("stacks: RUN and --pid cannot be combined; leave one of them out");
  line.stacks.color = color_of(color);
  line.kind = CommandKind::Stacks;
  return line;
}

CommandLine parse_cancel(const Arguments& arguments) {
  CommandLine line;
  CLI::App app(
      "Ends a run politely, like Ctrl-C on its terminal: the run writes its reports and exits with 130. A second "
      "cancel ends it sooner. A run that is still queued in the daemon is not started. On a terminal, asks before it "
      "ends a run that was started in another directory.",
      "distrun cancel");
  app.add_option("RUN", line.cancel.run, "The run, by the start of its id as in `distrun ps`; or all")
      ->required()
      ->type_name("RUN");
  app.add_flag("-y,--yes", line.cancel.yes, "Do not ask for confirmation");
  if (parse(app, arguments)) line.kind = CommandKind::Cancel;
  return line;
}

CommandLine parse_attach(const Arguments& arguments) {
  CommandLine line;
  std::string rank;
  CLI::App app("Starts gdb on a live rank. Timeouts are suspended while it is attached.", "distrun attach");
  app.add_option("RUN", line.attach.run, "The run, by the start of its id as in `distrun ps`")
      ->required()
      ->type_name("RUN");
  app.add_option("RANK", rank, "The number of the rank")->required()->type_name("RANK");
  app.add_option("--test", line.attach.test, "The rank's test, if several tests run at the same time")->type_name("ID");
  app.add_flag("--print", line.attach.print,
               "Print the command that starts gdb, also on another host, and start nothing");
  if (!parse(app, arguments)) return line;
  line.attach.rank = number("RANK", rank, 0, INT_MAX);
  line.kind = CommandKind::Attach;
  return line;
}

}  // namespace distrun::cli
