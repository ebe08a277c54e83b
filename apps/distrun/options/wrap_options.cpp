#include "wrap_options.hpp"

#include <CLI/CLI.hpp>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/shell_words.hpp>

#include "parsing.hpp"

namespace distrun::cli {
namespace {

// valgrind makes programs 20 to 50 times as slow.
constexpr double kTimeoutScale = 20;
constexpr char kCores[] = "on|off";

void add_command(const std::string& option, int rank, const std::string& command, runner::Settings& settings) {
  try {
    if (base::shell_words(command).empty())
      refuse(option + ": the command is empty; for example " + option +
             (rank < 0 ? " 'valgrind -q'" : " '2=valgrind -q'"));
  } catch (const Error& error) {
    if (std::string(error.what()).starts_with(option)) throw;
    refuse(option + ": " + error.what());
  }
  settings.wrappers.push_back({rank, command});
}

void add_of_rank(const std::string& text, runner::Settings& settings) {
  const std::size_t at = text.find('=');
  if (at == std::string::npos) {
    refuse("--wrap-rank " + text + ": expected RANK=COMMAND, for example '2=strace -f -o {work_dir}/trace'");
  }
  const int rank = number("--wrap-rank", text.substr(0, at), 0, wire::kWorldSizeMax - 1);
  for (const runner::Wrapper& each : settings.wrappers) {
    if (each.rank == rank) refuse("--wrap-rank: rank " + std::to_string(rank) + " has two commands; leave one out");
  }
  add_command("--wrap-rank", rank, text.substr(at + 1), settings);
}

void require_fitting(const RunOptions& run) {
  const runner::Settings& settings = run.settings;
  const bool is_program = settings.isolation == Isolation::Program;
  if (base::ranks_stay(settings.isolation) && !is_program) {
    refuse(std::string("--wrap cannot be combined with --isolation ") + name_of(settings.isolation) +
           ": each rank is started by the command; leave --isolation out");
  }
  if (!run.hosts.hosts.empty()) refuse("--wrap works on this machine only; leave --hosts out");
  if (settings.debug_rank >= 0) refuse("--wrap cannot be combined with --debug; leave one of them out");
}

}  // namespace

void add_wrap_options(CLI::App& app, Raw& raw) {
  app.add_option("--wrap", raw.wrap,
                 "Start each rank under this command, as in 'valgrind -q'; {rank}, {world_size} and {work_dir} are "
                 "replaced, and files in {work_dir} are kept; implies --isolation exec")
      ->type_name("COMMAND");
  app.add_option("--wrap-rank", raw.wrap_ranks,
                 "Start this rank under this command instead, as in '2=strace -f -o {work_dir}/trace'; repeatable")
      ->type_name("RANK=COMMAND")
      ->allow_extra_args(false);
  app.add_option("--core", raw.core,
                 "Core files of ranks that crash: on: they are written, and the report names them; off: the limit of "
                 "your shell holds (ulimit -c), and nothing is named")
      ->type_name(kCores);
}

void add_wrap_settings(const Raw& raw, RunOptions& run) {
  runner::Settings& settings = run.settings;
  settings.core = one_of("--core", raw.core, kCores) == "on";
  if (settings.core && !run.hosts.hosts.empty()) refuse("--core on works on this machine only; leave --hosts out");
  for (const std::string& text : raw.wrap_ranks) add_of_rank(text, settings);
  if (!raw.wrap.empty()) add_command("--wrap", -1, raw.wrap, settings);
  if (settings.wrappers.empty()) return;
  require_fitting(run);
  if (settings.isolation == Isolation::Program) return;
  settings.isolation = Isolation::Exec;
  if (settings.timeout_scale == runner::Settings().timeout_scale) settings.timeout_scale = kTimeoutScale;
}

}  // namespace distrun::cli
