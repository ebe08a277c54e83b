#pragma once
// The command line, read into plain structs. All flags are here.
#include <string>
#include <vector>

#include <distrun/runner/record.hpp>

namespace distrun::cli {

enum class ColorChoice { Auto, Always, Never };

// Where reports go; empty: not wanted.
struct ReportPaths {
  std::string summary;
  std::string junit;
  std::string events;
};

enum class TestOrder { Declared, FailedFirst };

struct RunOptions {
  runner::Settings settings;
  ReportPaths reports;
  TestOrder order = TestOrder::Declared;
  std::string history;        // a path or "off"; empty: where it always is
  ColorChoice color = ColorChoice::Auto;
  bool quiet = false;
};

struct ListOptions {
  runner::Settings settings;
  bool json = false;
};

struct ShowOptions {
  std::string report;
  ColorChoice color = ColorChoice::Auto;
};

// Of commands that look at what runs.
struct PsOptions {
  std::string run;            // start of its id; empty: all
};

struct StacksOptions {
  std::string run;            // start of its id; empty: the only one
  int rank = -1;              // -1: all
  std::vector<int> pids;      // any processes instead
  ColorChoice color = ColorChoice::Auto;
};

struct AttachOptions {
  std::string run;
  int rank = 0;
};

struct HistoryOptions {
  std::vector<std::string> patterns;  // as of --filter; none: a table of all tests
  std::vector<std::string> imports;   // summaries
  std::string history;                // as of a run
  base::Nanoseconds since{};          // how long ago at most; 0: any time
  int limit = 0;                      // lines; 0: all
  bool json = false;
  bool suggest_timeouts = false;
  ColorChoice color = ColorChoice::Auto;
};

enum class CommandKind { Run, List, Show, Ps, Stacks, Attach, History, Done };

struct CommandLine {
  CommandKind kind = CommandKind::Done;
  int exit_code = 0;  // of Done: help or the version was printed
  RunOptions run;
  ListOptions list;
  ShowOptions show;
  PsOptions ps;
  StacksOptions stacks;
  AttachOptions attach;
  HistoryOptions history;
};

// Prints help itself. Throws Error{InvalidArgument} for a usage error, with a text for the user.
CommandLine parse_command_line(const std::vector<std::string>& arguments);

}  // namespace distrun::cli
