// distrun stacks: the merged stacks of a run's ranks, requested from its coordinator; or with --pid those of any
// processes, and the connections between them.
#include <cstdio>

#include <distrun/runner/evidence/stacks/merge.hpp>
#include <distrun/runner/evidence/stacks/tree_text.hpp>
#include <distrun/runner/evidence/waits/blocked_on.hpp>
#include <distrun/runner/evidence/waits/connections.hpp>
#include <distrun/runner/evidence/waits/connections_text.hpp>

#include "commands.hpp"
#include "exit_codes.hpp"
#include "process_stacks.hpp"
#include "run_socket.hpp"
#include "terminal/terminal.hpp"
#include "told_lines.hpp"

namespace distrun::cli {
namespace {

int stacks_of_run(const StacksOptions& options) {
  const std::string id = find_run(options.run);
  const wire::ToldStacks told = ask_stacks(id, options.rank);
  print_snapshots(id, told.snapshots, wants_color(options.color));
  return kSuccess;
}

evidence::Stacks collect(const std::vector<int>& pids) {
  io::Loop loop;
  evidence::Stacks found;
  const auto collector = stacks_of_processes(loop, pids, 0, [&](evidence::Stacks stacks) {
    found = std::move(stacks);
    loop.stop();
  });
  loop.run();
  return found;
}

bool any_thread(const evidence::Stacks& stacks) {
  for (const evidence::Process& process : stacks.processes) {
    if (!process.threads.empty()) return true;
  }
  return false;
}

// Finds connections first: that does not stop the processes, so it sees them unchanged.
int tell_processes(const StacksOptions& options) {
  const evidence::Connections connections =
      evidence::find_connections(std::vector<pid_t>(options.pids.begin(), options.pids.end()));
  const std::vector<evidence::Blocked> blocked = evidence::blocked_threads(connections);
  const evidence::Stacks stacks = collect(options.pids);
  print_lines(evidence::tree_text(stacks, evidence::merge(stacks)), wants_color(options.color));
  for (const std::string& line : evidence::connection_lines(connections, blocked)) std::printf("%s\n", line.c_str());
  return any_thread(stacks) ? kSuccess : kInfraError;
}

}  // namespace

int stacks(const StacksOptions& options) {
  return options.pids.empty() ? stacks_of_run(options) : tell_processes(options);
}

}  // namespace distrun::cli
