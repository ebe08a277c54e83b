// distrun run: the coordinator with its reports, under a guard.
#include <signal.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/rng.hpp>
#include <distrun/common/base/text.hpp>
#include <distrun/runner/nodes/allocation_end.hpp>
#include <distrun/runner/record/machine.hpp>
#include <distrun/runner/run/run.hpp>

#include "bazel.hpp"
#include "commands.hpp"
#include "coordinator.hpp"
#include "exit_codes.hpp"
#include "guarded.hpp"
#include "outputs.hpp"
#include "program_path.hpp"
#include "reach.hpp"
#include "run_history.hpp"
#include "run_hosts.hpp"
#include "run_mpi.hpp"
#include "run_server.hpp"
#include "terminal/debugger.hpp"
#include "terminal/program_output.hpp"
#include "terminal/terminal.hpp"
#include "terminal/terminal_input.hpp"
#include "work_notes.hpp"
#include "wrapping.hpp"

namespace distrun::cli {
namespace {

constexpr std::chrono::milliseconds kTick{100};
constexpr std::chrono::milliseconds kTickWithoutTerminal{500};  // no line to keep alive: each wake-up costs CPU

// A program may write results to standard output.
void name_directories(const RunOptions& options, const std::string& path) {
  std::fprintf(options.settings.program.empty() ? stdout : stderr, "work directories: %s\n", path.c_str());
}

// Keeps the console's status line alive while nothing happens.
class Ticker {
 public:
  Ticker(io::Loop& loop, report::Console& console, const runner::Run& run)
      : console_(console), run_(run), resized_(loop.context(), SIGWINCH), alarm_(loop, [this] { tick(); }) {
    alarm_.set_after(period_);
    wait_for_resize();
  }

 private:
  void tick() {
    if (console_.wants_waits()) console_.waiting(run_.long_waits());
    console_.needs_lock(run_.awaited_lock());
    if (const auto stress = run_.stress_status()) console_.stress(*stress, run_.record().settings.stress);
    console_.tick();
    alarm_.set_after(period_);
  }
  void wait_for_resize() {
    resized_.async_wait([this](const auto& error, int) {
      if (error) return;
      console_.resize(terminal_width());
      wait_for_resize();
    });
  }

  report::Console& console_;
  const runner::Run& run_;
  const std::chrono::milliseconds period_ = output_is_terminal() ? kTick : kTickWithoutTerminal;
  boost::asio::signal_set resized_;
  io::Alarm alarm_;
};

std::string joined(const std::vector<std::string>& texts) {
  std::string line;
  for (const std::string& text : texts) line += (line.empty() ? "" : " ") + text;
  return line;
}

// Warns about tests of --rerun-failed that no longer exist: they have not passed, and nothing else reports them.
void warn_of_gone(const std::vector<std::string>& gone) {
  constexpr std::size_t kNamedMax = 20;
  if (gone.empty()) return;
  std::fprintf(stderr, "distrun: warning: %zu of the tests to rerun no longer %s:\n", gone.size(),
               gone.size() == 1 ? "exists" : "exist");
  for (std::size_t i = 0; i < std::min(gone.size(), kNamedMax); ++i) {
    std::fprintf(stderr, "  %s\n", base::one_line(gone[i], 400).c_str());
  }
  if (gone.size() > kNamedMax) std::fprintf(stderr, "  and %zu more\n", gone.size() - kNamedMax);
}

// A debugger may still inspect ranks that have ended.
io::Task<void> run_all(runner::Run& run, std::optional<Debugger>& debugger, RunHosts* hosts, RunMpi& mpi) {
  bool is_ready = hosts == nullptr || co_await hosts->assemble(run);
  if (is_ready) is_ready = co_await mpi.assemble(run);
  if (is_ready) co_await run.run();
  mpi.end(run);
  if (debugger) co_await debugger->ended();
  if (hosts != nullptr) co_await hosts->end(run);
}

void tell_no_match(const RunOptions& options, const runner::RunRecord& record) {
  const bool filtered_out = record.selected == 0 && record.gone.empty() && !record.settings.filters.empty();
  if (!filtered_out || !record.problems.empty()) return;
  std::fprintf(stderr, "distrun: no test matches --filter %s%s%s\n",
               base::one_line(joined(options.settings.filters)).c_str(), base::one_line(record.filter_hint).c_str(),
               record.filter_hint.empty() ? "; `distrun list` lists the tests" : "");
}

void follow_pauses(CoordinatorLoop& main, runner::Run& run, report::Console& console) {
  main.on_pause(
      [&run, &console] {
        run.pause();
        console.pause();
      },
      [&run, &console] {
        run.resume();
        console.resume();
      });
}

void follow_program(CoordinatorLoop& main, runner::Run& run, const RunOptions& options,
                    std::optional<ProgramOutput>& output) {
  run.show_output(output.emplace(main.loop(), options, [&run] { run.stop(runner::Urgency::Polite); }));
  main.on_user_signal([&run](int signal) { run.pass_on(signal); });
}

int coordinate(RunOptions options, const proc::RunPlaces& places, std::optional<daemon::OwnRun> own,
               proc::Coordinator coordinator) {
  WorkNotes notes(*coordinator.note);
  CoordinatorLoop main(std::move(coordinator), places);
  Outputs outputs(options, main.loop().clock());
  outputs.add(notes);
  std::optional<ProgramOutput> program_output;
  std::optional<TerminalInput> input;
  if (options.settings.stdin_rank >= 0) options.settings.stdin_fd = input.emplace(main.loop()).rank_end();
  std::optional<RunHosts> hosts;
  std::string why_ending;  // of the hosts' job
  if (!options.hosts.hosts.empty()) {
    hosts.emplace(main.loop(), options, places, outputs.sink(), [&](const std::string& why) {
      if (std::exchange(why_ending, why).empty()) main.interrupt();
    });
  }
  RunMpi mpi(main, options, places, outputs.sink());
  runner::Run run(main.loop(), hosts ? hosts->node() : main.node(), outputs.sink(), places, options.settings);
  if (!options.settings.program.empty()) follow_program(main, run, options, program_output);
  if (options.live_output) run.show_output(outputs.console().live_output());
  if (outputs.traces() != nullptr) run.trace_to(*outputs.traces());
  run.record().machine = runner::this_machine();
  arrange_tests(options, run, outputs.console().estimate());
  main.on_stop([&](runner::Urgency urgency) {
    if (hosts) hosts->cancel();
    run.cancel(urgency, why_ending);
  });
  nodes::AllocationEnd allocation(main.loop(), [&](base::TimePoint end) {
    run.outside_limit().set(end, "the allocation (" + allocation.name() + ")");
  });
  main.node().spare(allocation.asking());
  main.on_snapshot([&] { run.take_snapshot_now(); });
  follow_pauses(main, run, outputs.console());
  const std::string reach = reach_of(options.hosts.engine);
  const RunServer server(main.loop(), run, places.run_id, reach, [&] { main.interrupt(); });
  if (own) main.stand_by_when_stopped();
  std::optional<Debugger> debugger;
  if (options.settings.debug_rank >= 0) {
    outputs.add(debugger.emplace(main.loop(), main.node(), options.settings.debug_rank, reach));
    debugger->on_ended([&] { run.let_go(); });
  } else if (!input) {
    main.listen_to_keys();
  }
  {
    const Ticker ticker(main.loop(), outputs.console(), run);
    main.run(run_all(run, debugger, hosts ? &*hosts : nullptr, mpi));
  }
  main.node().close();
  const bool keeps = keeps_files(run.record());
  proc::tell_stuck(proc::remove_run_files(places, keeps));
  if (own) own->give_place_back();  // the reports may wait for their readers
  if (program_output) program_output->finish(run.record());
  outputs.finish(run.record());
  tell_no_match(options, run.record());
  warn_of_gone(run.record().gone);
  if (keeps) name_directories(options, places.run_dir());
  remember(options, run.record());
  return exit_code_of(run.record());
}

}  // namespace

int run(const RunOptions& options, std::optional<daemon::OwnRun> own) {
  if (options.settings.program.empty()) tell_that_shards_are_known();
  const PrematureExitFile premature_exit;
  if (!options.nothing_to_run.why.empty()) {
    std::printf("%s\n", options.nothing_to_run.why.c_str());
    return options.nothing_to_run.exit_code;
  }
  require_wrappers(options.settings);
  if (options.settings.core) raise_core_limit();
  const proc::RunPlaces places = proc::RunPlaces::here(own ? own->id : base::random_hex(daemon::kRunIdDigits));
  proc::GuardBounds bounds;
  const int asked = options.settings.stop_signal == SIGTERM ? 1 : 2;  // how many times the signal is sent
  bounds.end +=
      options.settings.peer_grace + options.settings.terminate_grace * asked;  // which it may have to wait for
  const auto be_coordinator = [&](proc::Coordinator coordinator) {
    return coordinate(options, places, std::move(own), std::move(coordinator));
  };
  return guarded(places, be_coordinator, bounds);
}

int exec(RunOptions options) {
  // Other hosts look for it themselves: this machine may lack it.
  const std::string& name = options.settings.program.front();
  options.settings.program_path = options.hosts.hosts.empty() ? find_program(name) : name;
  check_mpi(options.settings);
  return run(options, std::nullopt);
}

}  // namespace distrun::cli
