#pragma once
// Determines the project of a plugin if none is given: tests of two projects may have the same ids.
#include <string>

namespace distrun::history {

// Returns the top of the git repository that contains `plugin`, else of the one that contains `directory` (builds may
// be outside the source tree), else the plugin's folder; an absolute path. All worktrees of a repository form one
// project, that of the main worktree. If neither path exists, the result depends on the paths alone.
std::string project_of(const std::string& plugin, const std::string& directory);

}  // namespace distrun::history
