// distrun show: an earlier run, from its summary.
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <sstream>

#include <distrun/base/error.hpp>
#include <distrun/report/read_summary.hpp>
#include <distrun/report/show.hpp>

#include "commands.hpp"
#include "exit_codes.hpp"
#include "terminal.hpp"

namespace distrun::cli {

int show(const ShowOptions& options) {
  std::ifstream file(options.report, std::ios::binary);
  std::ostringstream content;
  if (!file || !(content << file.rdbuf())) {
    throw Error(ErrorKind::InvalidArgument, "cannot read " + options.report + ": " + base::errno_text(errno));
  }
  runner::RunRecord run;
  try {
    run = report::read_summary(content.str());
  } catch (Error& error) {
    throw error.while_doing(options.report);
  }
  const std::string text = report::show_text(run, report::Paint(wants_color(options.color)));
  std::fwrite(text.data(), 1, text.size(), stdout);
  return kSuccess;
}

}  // namespace distrun::cli
