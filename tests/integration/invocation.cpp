#include "invocation.hpp"

#include <algorithm>
#include <filesystem>

#include "daemon.hpp"
#include "support/environment.hpp"

namespace distrun::testing {
namespace {

using fixtures::Group;
using fixtures::Row;
using fixtures::Texts;

// One daemon for all: runs start at once, as those without a daemon do.
Daemon& the_daemon() {
  static Daemon daemon(daemon_program(), {"--parallel", "64"});
  return daemon;
}

std::string plugin_path(const Sandbox& sandbox, const std::string& name) {
  if (name.rfind("made_", 0) != 0) return std::string(DISTRUN_PLUGIN_DIR) + "/" + name;
  const std::string path = sandbox.output() + "/" + name;
  if (name == "made_text.so") write_file(path, "#include <distrun/test.hpp>\n");
  if (name == "made_source.cpp") write_file(path, "#include <distrun/test.hpp>\n");
  if (name == "made_script.so") write_file(path, "#!/bin/sh\n");
  if (name == "made_elsewhere.so") {
    std::string whole = read_file(std::string(DISTRUN_PLUGIN_DIR) + "/fixture_passes.so");
    whole[18] = '\xb7';  // the low byte of ELF's machine: AArch64, or an invalid one
    write_file(path, whole);
  }
  if (name == "made_empty.so") write_file(path, "");
  if (name == "made_directory.so") std::filesystem::create_directory(path);
  if (name == "made_half.so") {
    const std::string whole = read_file(std::string(DISTRUN_PLUGIN_DIR) + "/fixture_passes.so");
    write_file(path, whole.substr(0, 5000));
  }
  return path;  // made_nothing.so is not created
}

Texts arguments_of(const Group& group, const Invocation& invocation) {
  const Sandbox& sandbox = *invocation.sandbox;
  Texts arguments = {"run", "--isolation", invocation.isolation, "--output", sandbox.output(), "--color", "never"};
  // Limits the damage of a test that hangs although it should not.
  if (std::find(group.options.begin(), group.options.end(), "--timeout") == group.options.end()) {
    arguments.insert(arguments.end(), {"--timeout", "10s"});
  }
  if (group.parallel == 1) {
    arguments.insert(arguments.end(), group.options.begin(), group.options.end());
  } else {
    for (std::size_t i = 0; i < group.options.size(); i += 2) {
      if (group.options[i] == "--filter") continue;
      arguments.insert(arguments.end(), {group.options[i], group.options[i + 1]});
    }
    for (const Row& row : invocation.rows) arguments.insert(arguments.end(), {"--filter", row.test});
  }
  const double scale = group.timeout_scale * time_scale();
  if (invocation.way == kDaemon) arguments.push_back("--daemon");
  if (invocation.way == kHosts) arguments.insert(arguments.end(), {"--hosts", "one,two", "--launcher", "local"});
  if (scale != 1) arguments.insert(arguments.end(), {"--timeout-scale", std::to_string(scale)});
  arguments.push_back(plugin_path(sandbox, group.plugin));
  return arguments;
}

}  // namespace

void begin(const Group& group, Invocation& invocation) {
  invocation.sandbox = std::make_unique<Sandbox>(DISTRUN_BIN);
  Sandbox& sandbox = *invocation.sandbox;
  const Texts arguments = arguments_of(group, invocation);
  const bool through_daemon = invocation.way == kDaemon;
  invocation.running =
      std::make_unique<Running>(through_daemon ? the_daemon().command(sandbox, arguments) : sandbox.command(arguments));
}

}  // namespace distrun::testing
