// distrun: runs tests that need several ranks, and explains why ranks hang.
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/inherited.hpp>
#include <distrun/common/base/text.hpp>
#include <distrun/runner/proc/out_of_memory.hpp>

#include "commands/commands.hpp"
#include "commands/exit_codes.hpp"
#include "commands/gpus.hpp"
#include "options/command_line.hpp"
#include "terminal/standard_output.hpp"

namespace {

using namespace distrun;

int dispatch(const cli::CommandLine& line, std::optional<daemon::OwnRun> own) {
  switch (line.kind) {
    case cli::CommandKind::Run: {
      const bool submits = line.run.through_daemon && line.run.nothing_to_run.why.empty();
      return submits ? cli::submit(line.run.settings.command_line) : cli::run(line.run, std::move(own));
    }
    case cli::CommandKind::Exec: return cli::exec(line.run);
    case cli::CommandKind::List: return cli::list(line.list);
    case cli::CommandKind::Show: return cli::show(line.show);
    case cli::CommandKind::Ps: return cli::ps(line.ps);
    case cli::CommandKind::Stacks: return cli::stacks(line.stacks);
    case cli::CommandKind::Doctor: return cli::doctor(line.doctor);
    case cli::CommandKind::Attach: return cli::attach(line.attach);
    case cli::CommandKind::Cancel: return cli::cancel(line.cancel);
    case cli::CommandKind::History: return cli::history(line.history);
    case cli::CommandKind::Completion: return cli::completion(line.completion);
    case cli::CommandKind::Complete: return cli::complete(line.complete);
    case cli::CommandKind::Node: return cli::node(line.node);
    case cli::CommandKind::Man: return cli::man();
    case cli::CommandKind::Done: return line.exit_code;
  }
  return cli::kUsage;
}

}  // namespace

int main(int argc, char** argv) {
  base::mend_inherited_state();
  cli::take_gpus_of_ctest();
  cli::take_gpus_of_slurm();
  proc::end_when_out_of_memory(cli::kInfraError);
  cli::CommandLine line;
  try {
    std::optional<daemon::OwnRun> own = daemon::enter_own_run();
    line = cli::parse_command_line({argv + 1, argv + argc});
    if (own) line.run.through_daemon = false;
    line.run.settings.command_line = {argv, argv + argc};
    return cli::with_output_written(dispatch(line, std::move(own)));
  } catch (const Error& error) {
    std::fprintf(stderr, "distrun: %s\n", base::printable(error.what()).c_str());
    if (error.kind() != ErrorKind::InvalidArgument) return cli::kInfraError;
    std::fputs("Try: distrun --help\n", stderr);
    return cli::kUsage;
  }
}
