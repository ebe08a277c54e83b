// distrund: the daemon. Executes the runs of several users of distrun in turn.
#include <cstdio>
#include <string>
#include <vector>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/inherited.hpp>

#include "options.hpp"
#include "serve.hpp"

namespace {

using namespace distrun;

int dispatch(const daemon::Options& options) {
  switch (options.command) {
    case daemon::Command::Serve: return daemon::serve(options);
    case daemon::Command::Status: return daemon::show_status(options);
    case daemon::Command::Done: return daemon::kEnded;
  }
  return daemon::kUsage;
}

}  // namespace

int main(int argc, char** argv) {
  base::mend_inherited_state();
  try {
    return dispatch(daemon::parse_options({argv + 1, argv + argc}));
  } catch (const Error& error) {
    std::fprintf(stderr, "distrund: %s\n", error.what());
    if (error.kind() != ErrorKind::InvalidArgument) return daemon::kCannotServe;
    std::fputs("Try: distrund --help\n", stderr);
    return daemon::kUsage;
  }
}
