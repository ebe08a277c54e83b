#pragma once
// Lists a plugin's tests in a process of its own, which may crash, hang or lie.
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

// `rank_program` is the path of distrun-rank. `probe` looks where a plugin hangs. `on_change` is told the process while
// it is there, and null after it. Throws Error as Node::list.
io::Task<wire::PluginTable> list_plugin(io::Loop& loop, std::string rank_program, std::vector<std::string> environment,
                                        std::string plugin, wire::ListOrder order, base::Nanoseconds bound,
                                        Probe::Program probe, std::function<void(HelperProcess*)> on_change);

}  // namespace distrun::launch
