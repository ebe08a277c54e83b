// distrun show: an earlier run, from its summary.
#include <cstdio>

#include <distrun/report/show.hpp>

#include "commands.hpp"
#include "exit_codes.hpp"
#include "report_file.hpp"
#include "terminal.hpp"

namespace distrun::cli {

int show(const ShowOptions& options) {
  const runner::RunRecord run = read_report(options.report);
  const std::string text = report::show_text(run, report::Paint(wants_color(options.color)), options.slow);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return kSuccess;
}

}  // namespace distrun::cli
