#include <distrun/runner/history/project.hpp>

#include <filesystem>
#include <fstream>
#include <string_view>

namespace distrun::history {
namespace {

namespace fs = std::filesystem;

// In a worktree, .git is a file, "gitdir: REPOSITORY/.git/worktrees/NAME". The .git file of a submodule names another
// path; a submodule is a separate project, also within a worktree.
fs::path main_tree_of(const fs::path& top) {
  constexpr std::string_view kHead = "gitdir: ";
  std::error_code error;
  if (!fs::is_regular_file(top / ".git", error)) return top;
  std::string line;
  std::ifstream file(top / ".git");
  std::getline(file, line);
  if (!line.starts_with(kHead)) return top;
  const fs::path worktrees = (top / line.substr(kHead.size())).lexically_normal().parent_path();  // may be relative
  const fs::path store = worktrees.parent_path();
  return worktrees.filename() == "worktrees" && store.filename() == ".git" ? store.parent_path() : top;
}

// Returns an empty path if no repository is found.
fs::path repository_above(fs::path folder) {
  std::error_code error;
  for (; folder.has_relative_path(); folder = folder.parent_path()) {
    if (fs::exists(folder / ".git", error)) return main_tree_of(folder);
  }
  return {};
}

fs::path absolute(const std::string& path) {
  std::error_code error;
  const fs::path real = fs::weakly_canonical(fs::absolute(path, error), error);
  return error ? fs::path(path) : real;
}

}  // namespace

std::string project_of(const std::string& plugin, const std::string& directory) {
  const fs::path folder = absolute(plugin).parent_path();
  fs::path project = repository_above(folder);
  if (project.empty()) project = repository_above(absolute(directory));
  return (project.empty() ? folder : project).string();
}

}  // namespace distrun::history
