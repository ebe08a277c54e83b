#include <distrun/runner/evidence/proc/proc_files.hpp>

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/fd.hpp>
#include <distrun/common/base/text.hpp>

namespace distrun::evidence {

ProcFile read_proc_file(int directory, const char* path, std::size_t limit) {
  ProcFile file;
  const base::Fd fd(::openat(directory, path, O_RDONLY | O_CLOEXEC));
  if (!fd) {
    file.error = errno;
    return file;
  }
  char buffer[8192];
  while (true) {
    const ssize_t got = ::read(fd.get(), buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && file.text.empty()) file.error = errno;
    if (got <= 0) return file;
    file.text.append(buffer, static_cast<std::size_t>(got));
    if (file.text.size() > limit) break;
  }
  file.text.resize(limit);
  file.cut = true;
  return file;
}

ProcFile read_short_file(int directory, const char* path) {
  ProcFile file;
  const base::Fd fd(::openat(directory, path, O_RDONLY | O_CLOEXEC));
  char buffer[4096];
  ssize_t got = -1;
  while (fd && (got = ::read(fd.get(), buffer, sizeof buffer)) < 0 && errno == EINTR) {
  }
  if (got == static_cast<ssize_t>(sizeof buffer)) return read_proc_file(directory, path);
  if (got < 0) file.error = errno;
  if (got > 0) file.text.assign(buffer, static_cast<std::size_t>(got));
  return file;
}

ProcFile read_proc_file(const std::string& path, std::size_t limit) {
  return read_proc_file(AT_FDCWD, path.c_str(), limit);
}

ProcNumbers numbers_in(const std::string& directory, std::size_t limit) {
  ProcNumbers found;
  DIR* entries = ::opendir(directory.c_str());
  if (entries == nullptr) {
    found.error = errno;
    return found;
  }
  while (const dirent* entry = ::readdir(entries)) {
    const std::optional<int> number = number_in<int>(entry->d_name);
    if (!number) continue;
    found.cut = found.numbers.size() == limit;
    if (found.cut) break;
    found.numbers.push_back(*number);
  }
  ::closedir(entries);
  std::sort(found.numbers.begin(), found.numbers.end());
  return found;
}

std::string proc_path(pid_t pid, std::string_view rest) { return ("/proc/" + std::to_string(pid) + "/").append(rest); }

std::string name_in(const std::string& directory) {
  const ProcFile file = read_proc_file(directory + "/comm", 64);
  const std::string name = base::one_line(std::string_view(file.text).substr(0, file.text.find_last_not_of('\n') + 1));
  return name.empty() ? "?" : name;
}

std::string why_hidden(int error) {
  return error == ENOENT || error == ESRCH ? "the process has ended (no such process)" : base::errno_text(error);
}

std::string_view Words::next() {
  const std::size_t start = rest_.find_first_not_of(" \t");
  if (start == std::string_view::npos) return rest_ = {};
  const std::size_t end = std::min(rest_.find_first_of(" \t", start), rest_.size());
  const std::string_view word = rest_.substr(start, end - start);
  rest_.remove_prefix(end);
  return word;
}

void Words::skip(int count) {
  while (count-- > 0) next();
}

}  // namespace distrun::evidence
