#pragma once
// Lists a plugin's tests in a separate process, which may crash, hang or send nonsense.
#include <functional>
#include <string>
#include <vector>

#include <distrun/common/base/clock.hpp>
#include <distrun/common/io/loop.hpp>
#include <distrun/common/io/task.hpp>
#include <distrun/common/wire/plugin_table.hpp>
#include <distrun/runner/launch/helper_process.hpp>
#include <distrun/runner/launch/probe.hpp>

namespace distrun::launch {

// `rank_program` is the path of distrun-rank; `probe` reads the stacks if the plugin hangs. `on_change` gets the
// process when it has started, and null when it has ended. Throws Error like Node::list.
io::Task<wire::PluginTable> list_plugin(io::Loop& loop, std::string rank_program, std::vector<std::string> environment,
                                        std::string plugin, wire::ListOrder order, base::Nanoseconds bound,
                                        Probe::Program probe, std::function<void(HelperProcess*)> on_change);

}  // namespace distrun::launch
