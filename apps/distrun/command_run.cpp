// distrun run: the coordinator with its reports, under a guard.
#include <signal.h>

#include <cstdio>
#include <optional>
#include <utility>

#include <distrun/base/error.hpp>
#include <distrun/base/rng.hpp>
#include <distrun/base/text.hpp>
#include <distrun/runner/machine.hpp>
#include <distrun/runner/run.hpp>

#include "commands.hpp"
#include "coordinator.hpp"
#include "debugger.hpp"
#include "exit_codes.hpp"
#include "outputs.hpp"
#include "program_output.hpp"
#include "program_path.hpp"
#include "run_server.hpp"
#include "terminal.hpp"
#include "terminal_input.hpp"

namespace distrun::cli {
namespace {

constexpr int kRunIdDigits = 12;
constexpr auto kTick = std::chrono::milliseconds(100);

// Keeps the console's status line alive while nothing happens.
class Ticker {
 public:
  Ticker(io::Loop& loop, report::Console& console, const runner::Run& run)
      : loop_(loop),
        console_(console),
        run_(run),
        resized_(loop.context(), SIGWINCH),
        alarm_(loop, [this] { tick(); }) {
    alarm_.set(loop_.clock().now() + kTick);
    wait_for_resize();
  }

 private:
  void tick() {
    console_.waiting(run_.long_waits());
    console_.tick();
    alarm_.set(loop_.clock().now() + kTick);
  }
  void wait_for_resize() {
    resized_.async_wait([this](const auto& error, int) {
      if (error) return;
      console_.resize(terminal_width());
      wait_for_resize();
    });
  }

  io::Loop& loop_;
  report::Console& console_;
  const runner::Run& run_;
  boost::asio::signal_set resized_;
  io::Alarm alarm_;
};

std::string joined(const std::vector<std::string>& texts) {
  std::string line;
  for (const std::string& text : texts) line += (line.empty() ? "" : " ") + text;
  return line;
}

// A debugger may want a last look at what has ended.
io::Task<void> run_all(runner::Run& run, std::optional<Debugger>& debugger) {
  co_await run.run();
  if (debugger) co_await debugger->ended();
}

int coordinate(RunOptions options, const proc::RunPlaces& places, proc::Coordinator coordinator) {
  CoordinatorLoop main(std::move(coordinator), places);
  Outputs outputs(options, main.loop().clock());
  std::optional<ProgramOutput> program_output;
  std::optional<TerminalInput> input;
  if (!options.settings.program.empty()) program_output.emplace(main.loop(), options);
  if (options.settings.stdin_rank >= 0) options.settings.stdin_fd = input.emplace(main.loop()).rank_end();
  runner::Run run(main.loop(), main.node(), outputs.sink(), places, options.settings);
  if (program_output) run.show_output(*program_output);
  run.record().machine = runner::this_machine();
  main.on_stop([&](runner::Urgency urgency) { run.cancel(urgency); });
  main.on_look([&] { run.look_now(); });
  main.on_pause([&] { run.pause(); }, [&] { run.resume(); });
  const RunServer server(main.loop(), run, places.run_id);
  std::optional<Debugger> debugger;
  if (options.settings.debug_rank >= 0) {
    outputs.add(debugger.emplace(main.loop(), main.node(), options.settings.debug_rank));
    debugger->on_ended([&] { run.let_go(); });
  } else if (!input) {
    main.listen_to_keys();
  }
  {
    const Ticker ticker(main.loop(), outputs.console(), run);
    main.run(run_all(run, debugger));
  }
  main.node().close();
  proc::remove_run_files(places, options.settings.keep_work_dir);
  if (program_output) program_output->finish(run.record());
  outputs.finish(run.record());
  if (run.record().tests.empty() && !options.settings.filters.empty() && run.record().problems.empty()) {
    std::fprintf(stderr, "distrun: no test matches --filter %s; `distrun list` names the tests\n",
                 base::one_line(joined(options.settings.filters)).c_str());
  }
  if (options.settings.keep_work_dir) std::printf("work directories: %s\n", places.run_dir().c_str());
  return exit_code_of(run.record());
}

}  // namespace

int run(const RunOptions& options) {
  const proc::RunPlaces places = proc::RunPlaces::here(base::random_hex(kRunIdDigits));
  return proc::run_guarded(places, [&](proc::Coordinator coordinator) -> int {
    try {
      return coordinate(options, places, std::move(coordinator));
    } catch (const Error& error) {
      std::fprintf(stderr, "distrun: %s\n", error.what());
      proc::remove_run_files(places);
      return kInfraError;
    }
  });
}

int exec(RunOptions options) {
  options.settings.program_path = find_program(options.settings.program.front());
  return run(options);
}

}  // namespace distrun::cli
