#pragma once
// The notes below the options in `distrun --help` and in the man page: headings and indented lines.

namespace distrun::cli {

inline constexpr char kRunNotes[] = R"(
Commands:
  distrun [run] PLUGIN.so...     run the plugins' tests (this page)
  distrun exec -- PROGRAM...     run any program as ranks
  distrun list PLUGIN.so...      list the plugins' tests, and why some would be skipped
  distrun show SUMMARY.json      print the report of an earlier run
  distrun ps                     show what the ranks of all current runs do, one line each
  distrun stacks [RUN] [RANK]    show waits and stacks of ranks, or of any processes (--pid)
  distrun doctor [RUN]           say why ranks hang; also any processes (--pid) or a -- PROGRAM
  distrun attach RUN RANK        start gdb on a live rank
  distrun cancel RUN|all         end a run politely, as Ctrl-C does
  distrun history [TEST...]      show earlier results: verdicts, flakiness, durations
  distrun completion SHELL       print a completion script for bash, zsh or fish

Examples:
  distrun plugin.so                              every test, on 4 ranks
  distrun -w 2 --filter 'Ring.*' plugin.so       one suite, on 2 ranks
  distrun --filter=-Slow.* plugin.so             all but one suite
  distrun -f 'tag:slow & !suite:Ring' plugin.so  tests with a tag, but not of a suite
  distrun --until-fail --filter Ring.pass plugin.so
  distrun --timeout 30s --output reports plugin.so
  distrun --rerun-failed reports/summary.json    the tests that did not pass in that run
  distrun --trace traces -f Ring.pass plugin.so  a trace of its ranks, for ui.perfetto.dev

During the run:
  s or Ctrl-\ shows what every rank does, with stacks; Ctrl-Z stops ranks and suspends timeouts.

Exit codes:
  0    every test passed, was skipped (but not all) or is flaky (1 with --flaky fail); or the shard
       is empty
  1    a test did not pass
  2    the command line or the settings are invalid; nothing was started
  3    distrun or the machine failed, a plugin could not be loaded, output could not be written, or
       --run-timeout has ended the run
  4    nothing ran: no test was selected, or all were skipped
  130  interrupted

Environment:
  DISTRUN_OPTIONS                       options; the command line overrides them
  DISTRIBUTED_TESTS_DEFAULT_TIMEOUT     --timeout; the command line and DISTRUN_OPTIONS override it
  DISTRUN_DAEMON                        1: --daemon; overridden likewise
  DISTRUN_HISTORY                       --history; overridden likewise
  DISTRUN_NAMES_CACHE                   folder for names of code that took long to find
                                        ($XDG_CACHE_HOME/distrun/names), or off
  TEST_SHARD_INDEX, TEST_TOTAL_SHARDS, TESTBRIDGE_TEST_ONLY, XML_OUTPUT_FILE
                                        --shard, --filter and --junit, as Bazel sets them
  NO_COLOR                              no colours, unless --color is given
  TMPDIR                                parent of the ranks' directories (/tmp)

Files:
  .distrun.toml    settings, such as `timeout = "30s"`: long names of options and their values.
                   distrun looks for it from this directory up to the repository's root or the home
                   directory. The environment overrides it; the command line overrides both.)";

}  // namespace distrun::cli
