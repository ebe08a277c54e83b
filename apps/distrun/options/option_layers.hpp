#pragma once
// The layers of option values. The command line comes first; options that it omits are filled in from layers in order,
// and the rest have their defaults. All values of a repeatable option come from one layer.
#include <map>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace distrun {
namespace base {
class Error;
}
namespace cli {

struct LayerValue {
  std::vector<std::string> texts;  // as on a command line; for a flag: "true"
  std::string origin;              // "../.distrun.toml:3"
};
using Layer = std::map<std::string, LayerValue>;     // by the long name without dashes
using Origins = std::map<std::string, std::string>;  // by the long name; missing: the default

inline constexpr char kOptionsVariable[] = "DISTRUN_OPTIONS";
inline constexpr char kTimeoutVariable[] = "DISTRIBUTED_TESTS_DEFAULT_TIMEOUT";
inline constexpr char kDaemonVariable[] = "DISTRUN_DAEMON";
inline constexpr char kHistoryVariable[] = "DISTRUN_HISTORY";

// Returns whether an option of `distrun run`, by long name, concerns a single run: only the command line may set it.
bool is_for_one_run(const std::string& name);

// Returns the origins of an app that has been parsed.
Origins command_line_origins(const CLI::App& app);
// Returns whether the option, by long name, stands on the command line.
bool is_typed(const Origins& origins, const std::string& name);
// Sets each option of `app` that has no value yet from the layer; ignores unknown names. Throws Error{InvalidArgument}
// with the origin of an invalid value.
void fill_in(CLI::App& app, const Layer& layer, Origins& origins);

// Reads the options from the environment. `scratch` is an app of `distrun run`, which is parsed for this.
Layer environment_layer(CLI::App& scratch);

// Adds the origin of the value to an error text that begins with the option's name.
void add_origin(base::Error& error, const Origins& origins);

}  // namespace cli
}  // namespace distrun
