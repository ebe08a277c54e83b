#pragma once
// What stands on a command line, in plain structs.
#include <cstddef>
#include <string>
#include <vector>

#include <distrun/runner/record/record.hpp>

namespace distrun::cli {

enum class ColorChoice { Auto, Always, Never };

// Where reports go; empty: not wanted.
struct ReportPaths {
  std::string summary;
  std::string junit;
  std::string events;
  std::string ctrf;
};
// Whether one of them is standard output, under any name.
bool writes_to_stdout(const ReportPaths& paths);

// Auto: where GitHub Actions runs us.
enum class GithubChoice { Off, Auto, On };

struct GithubOptions {
  GithubChoice choice = GithubChoice::Off;
  bool skips = false;  // tells skipped tests, too
};

// Nothing is run, for a good reason.
struct NothingToRun {
  std::string why;  // a sentence; empty: something is
  int exit_code = 0;
};

enum class TestOrder { Declared, FailedFirst };

// Of `distrun exec`, where settings.program is not empty.
struct ProgramOptions {
  bool prefix = true;    // lines begin with the name of their rank
  bool verbose = false;  // tells the beginning and a good end, too
  std::string log_dir;   // a file for each rank and stream; empty: none
};

struct RunOptions {
  runner::Settings settings;
  NothingToRun nothing_to_run;
  ReportPaths reports;
  GithubOptions github;
  TestOrder order = TestOrder::Declared;
  std::string history;  // a path or "off"; empty: where it always is
  std::string project;  // whose history it is; empty: as the plugin's place says
  ColorChoice color = ColorChoice::Auto;
  bool quiet = false;
  bool show_output = false;  // of tests that pass, too
  bool verbose = false;      // notes that change no verdict are printed
  std::size_t slow = 0;      // so many of the slowest tests are told
  bool through_daemon = false;
  ProgramOptions program;
};

enum class ListForm { Text, Json, Patterns };

struct ListOptions {
  runner::Settings settings;
  ListForm form = ListForm::Text;
  std::string before;  // each pattern: "--filter="
};

struct ShowOptions {
  std::string report;
  bool verbose = false;  // notes that change no verdict are printed
  ColorChoice color = ColorChoice::Auto;
  ReportPaths reports;  // to be written of it; junit and ctrf only
  GithubOptions github;
  std::size_t slow = 0;
};

// Of commands that look at what runs.
struct PsOptions {
  std::string run;          // start of its id; empty: all
  bool references = false;  // those of its ranks, too
  bool json = false;
};

struct StacksOptions {
  std::string run;        // start of its id; empty: the only one
  int rank = -1;          // -1: all
  std::vector<int> pids;  // any processes instead
  ColorChoice color = ColorChoice::Auto;
};

struct CancelOptions {
  std::string run;   // start of its id; "all"
  bool yes = false;  // nobody is asked
};

struct AttachOptions {
  std::string run;
  int rank = 0;
  std::string test;  // where several run; empty: the only one
};

struct HistoryOptions {
  std::vector<std::string> patterns;  // as of --filter; none: a table of all tests
  std::vector<std::string> imports;   // summaries
  std::string history;                // as of a run
  std::string project;                // of this one alone; empty: of all
  base::Nanoseconds since{};          // how long ago at most; 0: any time
  int limit = 0;                      // lines; 0: all
  bool json = false;
  bool suggest_timeouts = false;
  ColorChoice color = ColorChoice::Auto;
};

struct CompletionOptions {
  std::string shell;  // whose script is wanted
};

// What stands on a command line that is being typed.
struct CompleteOptions {
  std::vector<std::string> words;  // after the program's name; the last one is not complete
};

enum class CommandKind { Run, Exec, List, Show, Ps, Stacks, Attach, Cancel, History, Completion, Complete, Man, Done };

struct CommandLine {
  CommandKind kind = CommandKind::Done;
  int exit_code = 0;  // of Done: help or the version was printed
  RunOptions run;
  ListOptions list;
  ShowOptions show;
  PsOptions ps;
  StacksOptions stacks;
  AttachOptions attach;
  CancelOptions cancel;
  HistoryOptions history;
  CompletionOptions completion;
  CompleteOptions complete;
};

}  // namespace distrun::cli
