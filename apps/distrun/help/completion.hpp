#pragma once
// What fits at the end of a command line that is being typed. It is found from what the commands take, so nothing about
// options is written down twice; the scripts for the shells only ask for it.
#include <string>
#include <vector>

#include "command_info.hpp"

namespace distrun::cli {

inline constexpr char kShells[] = "bash|zsh|fish";

// The script for that shell, one of kShells.
std::string completion_script(const std::string& shell);

struct Candidate {
  std::string text;
  std::string description;  // may be empty
};

enum class PathKind { None, Any, Plugin, Directory };

struct Candidates {
  std::vector<Candidate> words;      // those that begin like the word that is being typed
  PathKind paths = PathKind::None;   // paths of that kind fit too; the shell knows them
  bool runs = false;                 // ids of runs that go on
  bool tests = false;                // tests of `plugins`
  std::vector<std::string> plugins;  // that the line names
  std::string prefix;                // "--filter=", if its value is what is being typed
};

// `commands` are those of describe_commands(); `words` follow the program's name, and the last one is not complete
// (it may be empty). No words: nothing fits.
Candidates candidates_for(const std::vector<CommandInfo>& commands, const std::vector<std::string>& words);

}  // namespace distrun::cli
