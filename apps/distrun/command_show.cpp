// distrun show: an earlier run, from its summary.
#include <cstdio>

#include <distrun/base/error.hpp>
#include <distrun/report/read_summary.hpp>
#include <distrun/report/show.hpp>

#include "commands.hpp"
#include "exit_codes.hpp"
#include "summary_file.hpp"
#include "terminal.hpp"

namespace distrun::cli {

int show(const ShowOptions& options) {
  const std::string json = summary_text(options.report);
  runner::RunRecord run;
  try {
    run = report::read_summary(json);
  } catch (Error& error) {
    throw error.while_doing(options.report);
  }
  const std::string text = report::show_text(run, report::Paint(wants_color(options.color)));
  std::fwrite(text.data(), 1, text.size(), stdout);
  return kSuccess;
}

}  // namespace distrun::cli
