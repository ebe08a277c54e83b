#pragma once
// The arguments of a command, as plain values, read from its CLI11 app, the only place that describes options. Help,
// man page, completion and --print-config are generated from them.
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace distrun::cli {

// The value of the arguments after all options: a separate command line.
inline constexpr char kProgram[] = "-- PROGRAM";

struct OptionInfo {
  std::vector<std::string> names;  // "-w", "--world-size"; empty: positional
  std::string value;               // "N", or the choices "a|b"; "[=MAX]" may follow a flag; empty: a flag
  std::string description;
  std::string group;          // its heading
  std::string default_value;  // as the user would write it; empty: none, or it cannot be written
  bool repeats = false;
  bool required = false;

  bool positional() const noexcept { return names.empty(); }
  bool is_flag() const noexcept { return value.empty() || value.front() == '['; }
  // Returns "world-size" for --world-size; empty without a long name.
  std::string long_name() const;
  // Returns the literal values: all of "a|b", or "off" of "FILE|off", which also accepts other values.
  std::vector<std::string> choices() const;
  // Returns whether a value other than the choices is a path.
  bool takes_file() const;
  bool takes_directory() const noexcept { return value == "DIR"; }
};

struct CommandInfo {
  std::string name;  // "distrun list"
  std::string description;
  std::vector<OptionInfo> options;
  std::string notes;  // sections: a line "Heading:" and indented lines

  // Finds an option by its long or short name, with dashes; null if not found.
  const OptionInfo* find(const std::string& wanted) const;
};

CommandInfo info_of(const CLI::App& app);

// Splits "a|b|c".
std::vector<std::string> split_choices(const std::string& value);

}  // namespace distrun::cli
