#pragma once
// Where options have their values from. The command line comes first; what it leaves out is filled in from layers, one
// after the other, and what is left then is as it is by default. An option that may be given again has all its values
// from one layer.
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
  std::vector<std::string> texts;  // as on a command line; of a flag: "true"
  std::string origin;              // "../.distrun.toml:3"
};
using Layer = std::map<std::string, LayerValue>;     // by the long name without its dashes
using Origins = std::map<std::string, std::string>;  // the same; what is not in it is as by default

inline constexpr char kOptionsVariable[] = "DISTRUN_OPTIONS";
inline constexpr char kTimeoutVariable[] = "DISTRIBUTED_TESTS_DEFAULT_TIMEOUT";
inline constexpr char kDaemonVariable[] = "DISTRUN_DAEMON";
inline constexpr char kHistoryVariable[] = "DISTRUN_HISTORY";

// Options of `distrun run` that are about one run alone have no place but the command line. By long name.
bool is_for_one_run(const std::string& name);

// Of an app that has been parsed.
Origins command_line_origins(const CLI::App& app);
// Sets each option of `app` that has no value yet and that the layer has; names it does not know are left out.
// Throws Error{InvalidArgument} with the origin of a value that cannot be one.
void fill_in(CLI::App& app, const Layer& layer, Origins& origins);

// What the environment says. `scratch` is an app of `distrun run`; it is parsed for this.
Layer environment_layer(CLI::App& scratch);

// Adds where the value comes from to an error whose text begins with the option's name.
void add_origin(base::Error& error, const Origins& origins);

}  // namespace cli
}  // namespace distrun
