#pragma once
// Which project a plugin is of, where nobody says so: tests of two projects may have the same ids.
#include <string>

namespace distrun::history {

// The top of the git repository that `plugin` lies in, else of the one that `directory` lies in (a build may be
// elsewhere), else the plugin's folder; an absolute path. All worktrees of a repository are one project: that of its
// main one. Where neither is there the answer goes by the paths alone.
std::string project_of(const std::string& plugin, const std::string& directory);

}  // namespace distrun::history
