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

// Of `distrun exec`, where settings.program is not empty.
struct ProgramOptions {
  bool prefix = true;         // lines begin with the name of their rank
  bool verbose = false;       // tells the beginning and a good end, too
  std::string log_dir;        // a file for each rank and stream; empty: none
};

struct RunOptions {
  runner::Settings settings;
  ReportPaths reports;
  ColorChoice color = ColorChoice::Auto;
  bool quiet = false;
  ProgramOptions program;
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

enum class CommandKind { Run, Exec, List, Show, Ps, Stacks, Attach, Done };

struct CommandLine {
  CommandKind kind = CommandKind::Done;
  int exit_code = 0;  // of Done: help or the version was printed
  RunOptions run;
  ListOptions list;
  ShowOptions show;
  PsOptions ps;
  StacksOptions stacks;
  AttachOptions attach;
};

// Prints help itself. Throws Error{InvalidArgument} for a usage error, with a text for the user.
CommandLine parse_command_line(const std::vector<std::string>& arguments);

}  // namespace distrun::cli
