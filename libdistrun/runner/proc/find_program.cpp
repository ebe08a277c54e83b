#include <distrun/runner/proc/find_program.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/text.hpp>

namespace distrun::proc {
namespace {

// Returns why the file cannot be executed; empty if it can.
std::string refusal(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return base::errno_text(errno);
  if (S_ISDIR(status.st_mode)) return "it is a directory";
  if (!S_ISREG(status.st_mode)) return "it is not a regular file";
  if (::access(path.c_str(), X_OK) != 0) return "it is not executable (chmod +x?)";
  return "";
}

[[noreturn]] void refuse_program(const std::string& name, const std::string& why) {
  throw Error(ErrorKind::Failed, "cannot run " + base::one_line(name, 400) + ": " + why);
}

std::string find_in_path(const std::string& name, std::string_view places) {
  std::string found_but;
  for (;;) {
    const std::size_t colon = places.find(':');
    const std::string place(places.substr(0, colon));
    std::string path = (place.empty() ? "." : place) + "/" + name;
    const std::string why = refusal(path);
    if (why.empty()) return path;
    if (found_but.empty() && ::access(path.c_str(), F_OK) == 0) found_but = path + ": " + why;
    if (colon == std::string_view::npos) break;
    places.remove_prefix(colon + 1);
  }
  if (!found_but.empty()) refuse_program(name, found_but);
  refuse_program(name, "it is not in PATH (./" + base::one_line(name, 400) + " runs a file in this directory)");
}

}  // namespace

std::string find_program(const std::string& name, std::string_view path) {
  if (name.empty()) refuse_program("\"\"", "the name is empty");
  if (name.find('/') == std::string::npos) return find_in_path(name, path);
  const std::string why = refusal(name);
  if (!why.empty()) refuse_program(name, why);
  return name;
}

}  // namespace distrun::proc
