// distrun: runs tests that need several ranks, and when ranks hang it says why.
#include <cstdio>
#include <string>
#include <vector>

#include <distrun/base/error.hpp>

#include "commands.hpp"
#include "exit_codes.hpp"
#include "terminal.hpp"

namespace {

using namespace distrun;

int dispatch(const cli::CommandLine& line) {
  switch (line.kind) {
    case cli::CommandKind::Run: return cli::run(line.run);
    case cli::CommandKind::Exec: return cli::exec(line.run);
    case cli::CommandKind::List: return cli::list(line.list);
    case cli::CommandKind::Show: return cli::show(line.show);
    case cli::CommandKind::Ps: return cli::ps(line.ps);
    case cli::CommandKind::Stacks: return cli::stacks(line.stacks);
    case cli::CommandKind::Attach: return cli::attach(line.attach);
    case cli::CommandKind::Done: return line.exit_code;
  }
  return cli::kUsage;
}

}  // namespace

int main(int argc, char** argv) {
  cli::open_standard_descriptors();
  cli::CommandLine line;
  try {
    line = cli::parse_command_line({argv + 1, argv + argc});
    line.run.settings.command_line = {argv, argv + argc};
    return dispatch(line);
  } catch (const Error& error) {
    std::fprintf(stderr, "distrun: %s\n", error.what());
    if (error.kind() != ErrorKind::InvalidArgument) return cli::kInfraError;
    std::fputs("Try: distrun --help\n", stderr);
    return cli::kUsage;
  }
}
