// distrun man: prints the source of the man page. Called by the build.
#include <cstdio>

#include "commands.hpp"
#include "exit_codes.hpp"
#include "help/man_page.hpp"
#include "options/command_line.hpp"

namespace distrun::cli {

int man() {
  std::fputs(man_page(describe_commands(), DISTRUN_VERSION).c_str(), stdout);
  return kSuccess;
}

}  // namespace distrun::cli
