#pragma once
// The notes below the options in `distrun --help` and in the man page: headings and indented lines.

namespace distrun::cli {

inline constexpr char kRunNotes[] = R"(
Commands:
  distrun [run] PLUGIN.so...     run the plugins' tests (this page)
  distrun exec -- PROGRAM...     run any program as ranks
  distrun list PLUGIN.so...      name their tests, and why some would be skipped
  distrun show SUMMARY.json      print an earlier run again
  distrun ps                     what the ranks of running distruns do, a line each
  distrun stacks [RUN] [RANK]    what they wait for, and their stacks; --pid for any processes
  distrun attach RUN RANK        gdb on a live rank
  distrun cancel RUN|all         end a run politely, as Ctrl-C does
  distrun history [TEST...]      what came of tests in earlier runs: verdicts, flakiness, durations
  distrun completion SHELL       a script that completes command lines: bash, zsh or fish

Examples:
  distrun plugin.so                              every test, with 4 ranks
  distrun -w 2 --filter 'Ring.*' plugin.so       one suite, with 2 ranks
  distrun --filter=-Slow.* plugin.so             all but one suite
  distrun --until-fail --filter Ring.pass plugin.so
  distrun --timeout 30s --output reports plugin.so
  distrun --rerun-failed reports/summary.json    what did not pass there
  distrun --trace traces -f Ring.pass plugin.so  what its ranks did, for ui.perfetto.dev

While it runs:
  s or Ctrl-\ shows what every rank does, with stacks; Ctrl-Z stops ranks and clocks.

Exit codes:
  0    every test passed or is flaky, or the shard is empty
  1    some test did not
  2    the command line or the settings make no sense; nothing was started
  3    distrun or the machine failed, or a plugin could not be loaded
  4    nothing ran: no test was selected, or all were skipped
  130  interrupted

Environment:
  DISTRUN_OPTIONS                       options, as on the command line, which beats them
  DISTRIBUTED_TESTS_DEFAULT_TIMEOUT     --timeout, where nothing above says it
  DISTRUN_DAEMON                        1: --daemon, where nothing above says it
  DISTRUN_HISTORY                       --history, where nothing above says it
  NO_COLOR                              no colours, unless --color says otherwise
  TMPDIR                                where ranks have their directories (/tmp)

Files:
  .distrun.toml    settings, as `timeout = "30s"`: the long names of options and their values.
                   Looked for from here upwards to the repository's root or the home directory.
                   The environment beats it, and the command line beats both.)";

}  // namespace distrun::cli
