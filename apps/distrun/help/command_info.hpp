#pragma once
// What a command takes, as plain values. They are read off its CLI11 app, which is the one place where an option is
// described; help, man page, completion and --print-config are made from them.
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace distrun::cli {

// The value of what stands behind all options: a command line of its own.
inline constexpr char kProgram[] = "-- PROGRAM";

struct OptionInfo {
  std::vector<std::string> names;  // "-w", "--world-size"; none: an argument that is known by its place
  std::string value;               // "N", or the choices "a|b"; "[=MAX]" may follow a flag; empty: a flag
  std::string description;
  std::string group;          // the heading it stands under
  std::string default_value;  // as the user would write it; empty: none, or it cannot be written
  bool repeats = false;
  bool required = false;

  bool positional() const noexcept { return names.empty(); }
  bool is_flag() const noexcept { return value.empty() || value.front() == '['; }
  // "world-size" of --world-size; empty if it has no long name.
  std::string long_name() const;
  // The words that it takes: all of "a|b"; of "FILE|off", which takes others too, "off".
  std::vector<std::string> choices() const;
  // Whether a value that is none of the choices is a path.
  bool takes_file() const;
  bool takes_directory() const noexcept { return value == "DIR"; }
};

struct CommandInfo {
  std::string name;  // "distrun list"
  std::string description;
  std::vector<OptionInfo> options;
  std::string notes;  // sections, each a line "Heading:" and lines that are indented

  // By long or short name, dashes included; null if there is none.
  const OptionInfo* find(const std::string& wanted) const;
};

CommandInfo info_of(const CLI::App& app);

// The parts of "a|b|c".
std::vector<std::string> split_choices(const std::string& value);

}  // namespace distrun::cli
