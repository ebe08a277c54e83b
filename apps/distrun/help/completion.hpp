#pragma once
// Completes a command line. The candidates come from the descriptions of the commands, so options are described only
// once; the shell scripts only ask for them.
#include <string>
#include <vector>

#include "command_info.hpp"

namespace distrun::cli {

inline constexpr char kShells[] = "bash|zsh|fish";

// Returns the script for one of kShells.
std::string completion_script(const std::string& shell);

struct Candidate {
  std::string text;
  std::string description;  // may be empty
};

enum class PathKind { None, Any, Plugin, Directory };

struct Candidates {
  std::vector<Candidate> words;      // those with the prefix that is being typed
  PathKind paths = PathKind::None;   // paths of this kind are candidates, too; the shell lists them
  bool runs = false;                 // ids of running runs
  bool tests = false;                // tests of `plugins`
  std::vector<std::string> plugins;  // named in the line
  std::string prefix;                // "--filter=", if its value is being typed
};

// `commands` come from describe_commands(); `words` follow the program's name, and the last one is incomplete or empty.
// Returns no candidates if there are no words.
Candidates candidates_for(const std::vector<CommandInfo>& commands, const std::vector<std::string>& words);

}  // namespace distrun::cli
