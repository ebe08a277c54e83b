#pragma once
// The contents of a command line, in plain structs.
#include <cstddef>
#include <string>
#include <vector>

#include <distrun/runner/nodes/engine.hpp>
#include <distrun/runner/nodes/host_list.hpp>
#include <distrun/runner/nodes/place.hpp>
#include <distrun/runner/record/record.hpp>

namespace distrun::cli {

enum class ColorChoice { Auto, Always, Never };

// Paths of the reports; empty: not written.
struct ReportPaths {
  std::string summary;
  std::string junit;
  std::string events;
  std::string ctrf;
};
// Returns whether one of them is standard output, under any name.
bool writes_to_stdout(const ReportPaths& paths);

// Auto: on if GitHub Actions runs distrun.
enum class GithubChoice { Off, Auto, On };

struct GithubOptions {
  GithubChoice choice = GithubChoice::Off;
  bool skips = false;  // reports skipped tests, too
};

// Set if there is a good reason to run nothing.
struct NothingToRun {
  std::string why;  // a sentence; empty: there are tests to run
  int exit_code = 0;
};

enum class TestOrder { Declared, FailedFirst };

// Options of `distrun exec`, if settings.program is not empty.
struct ProgramOptions {
  bool prefix = true;    // lines begin with the name of their rank
  bool verbose = false;  // reports the beginning and a successful end, too
  std::string log_dir;   // a file for each rank and stream; empty: none
};

// Where ranks run.
struct HostsOptions {
  std::vector<nodes::HostSlot> hosts;  // empty: this machine
  nodes::Engine engine;
  int per_host = 0;  // 0: not said
  base::Nanoseconds join_timeout = std::chrono::seconds(30);
  bool jobs_by_cpus = false;  // --jobs auto: as many as the hosts have CPUs
};

struct RunOptions {
  runner::Settings settings;
  HostsOptions hosts;
  NothingToRun nothing_to_run;
  ReportPaths reports;
  GithubOptions github;
  TestOrder order = TestOrder::Declared;
  std::string history;  // a path or "off"; empty: the default path
  std::string project;  // owner of the history; empty: from the plugin's path
  ColorChoice color = ColorChoice::Auto;
  bool quiet = false;
  bool show_output = false;                                 // of tests that pass, too
  bool live_output = false;                                 // of tests, while they run
  bool verbose = false;                                     // prints notes that do not change the verdict
  std::size_t slow = 0;                                     // how many of the slowest tests to list
  base::Nanoseconds slow_after = std::chrono::seconds(60);  // of a test without a terminal, for a line; 0: never
  bool through_daemon = false;
  ProgramOptions program;
};

enum class ListForm { Text, Json, Patterns, Cmake };

struct ListOptions {
  runner::Settings settings;
  ListForm form = ListForm::Text;
  std::string before;  // before each pattern: "--filter="
  std::string file;    // of Cmake: what is written
};

struct ShowOptions {
  std::string report;
  bool verbose = false;  // prints notes that do not change the verdict
  ColorChoice color = ColorChoice::Auto;
  ReportPaths reports;  // to be written from it; junit and ctrf only
  GithubOptions github;
  std::size_t slow = 0;
};

// Options of the commands that inspect running tests.
struct PsOptions {
  std::string run;          // start of its id; empty: all
  bool references = false;  // also show the references of its ranks
  bool json = false;
};

struct StacksOptions {
  std::string run;        // start of its id; empty: the only one
  int rank = -1;          // -1: all
  std::vector<int> pids;  // any processes instead
  ColorChoice color = ColorChoice::Auto;
};

struct DoctorOptions {
  std::string run;                                     // start of its id; empty: the only one
  std::vector<int> pids;                               // any processes instead
  std::vector<std::string> program;                    // with its arguments, to be started, instead
  base::Nanoseconds after = std::chrono::seconds(10);  // of the program's start
  std::string json;                                    // path; empty: text only; "-": JSON only
  ColorChoice color = ColorChoice::Auto;
};

struct CancelOptions {
  std::string run;   // start of its id; "all"
  bool yes = false;  // do not ask
};

struct AttachOptions {
  std::string run;
  int rank = 0;
  std::string test;    // if several are running; empty: the only one
  bool print = false;  // prints the command instead
};

struct HistoryOptions {
  std::vector<std::string> patterns;  // like --filter; empty: a table of all tests
  std::vector<std::string> imports;   // summaries
  std::string history;                // like a run's
  std::string project;                // only this one; empty: all
  base::Nanoseconds since{};          // maximum age; 0: any
  int limit = 0;                      // lines; 0: all
  bool json = false;
  bool suggest_timeouts = false;
  ColorChoice color = ColorChoice::Auto;
};

// Options of `distrun node`, which a launcher starts on a host.
struct NodeOptions {
  std::vector<nodes::Place> places;  // where the coordinator listens
  std::string host;
  std::string directory;  // in which it runs; empty: the current one
  bool own_tmp = false;   // use a temporary directory that no other node of this machine uses
};

struct CompletionOptions {
  std::string shell;  // the shell of the script
};

// A command line that is being typed.
struct CompleteOptions {
  std::vector<std::string> words;  // after the program's name; the last one is incomplete
};

enum class CommandKind {
  Run,
  Exec,
  List,
  Show,
  Ps,
  Stacks,
  Doctor,
  Attach,
  Cancel,
  History,
  Completion,
  Complete,
  Node,
  Man,
  Done
};

struct CommandLine {
  CommandKind kind = CommandKind::Done;
  int exit_code = 0;  // of Done: help or the version was printed
  RunOptions run;
  ListOptions list;
  ShowOptions show;
  PsOptions ps;
  StacksOptions stacks;
  DoctorOptions doctor;
  AttachOptions attach;
  CancelOptions cancel;
  HistoryOptions history;
  NodeOptions node;
  CompletionOptions completion;
  CompleteOptions complete;
};

}  // namespace distrun::cli
