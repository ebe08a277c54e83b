#include <distrun/plugin/rank/own_tasks.hpp>

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string_view>

namespace distrun::rank {
namespace {

constexpr std::size_t kFileMax = 2048;  // of status: the lines needed are in the first 1.5 KiB

// Reads /proc/self/task/TID/NAME into `text`.
std::string_view read_file(pid_t tid, std::string_view name, char* text, std::size_t size) noexcept {
  char path[64] = "/proc/self/task/";
  char* end = std::to_chars(path + std::strlen(path), path + sizeof path, tid).ptr;
  *end++ = '/';
  std::memcpy(end, name.data(), name.size());
  end[name.size()] = '\0';
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  const ssize_t got = ::read(file, text, size);
  ::close(file);
  return got > 0 ? std::string_view(text, static_cast<std::size_t>(got)) : std::string_view{};
}

// Returns the text after `label`; empty if there is no such line.
std::string_view value_of(std::string_view text, std::string_view label) noexcept {
  const std::size_t at = text.find(label);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = text.substr(at + label.size());
  return rest.substr(0, rest.find('\n'));
}

}  // namespace

OwnTasks::OwnTasks() noexcept : directory_(::open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {}

OwnTasks::~OwnTasks() {
  if (directory_ >= 0) ::close(directory_);
}

pid_t OwnTasks::next() noexcept {
  for (;;) {
    if (at_ == filled_) {
      const long got = directory_ < 0 ? 0 : ::syscall(SYS_getdents64, directory_, entries_, sizeof entries_);
      if (got <= 0) return 0;
      filled_ = static_cast<std::size_t>(got);
      at_ = 0;
    }
    const auto* entry = reinterpret_cast<const dirent64*>(entries_ + at_);
    at_ += entry->d_reclen;
    pid_t tid = 0;
    std::from_chars(entry->d_name, entry->d_name + std::strlen(entry->d_name), tid);
    if (tid > 0) return tid;
  }
}

bool read_status(pid_t tid, TaskStatus& status) noexcept {
  char buffer[kFileMax];
  const std::string_view text = read_file(tid, "status", buffer, sizeof buffer);
  if (text.empty()) return false;
  const std::string_view state = value_of(text, "\nState:\t");
  const std::string_view blocked = value_of(text, "\nSigBlk:\t");
  if (!state.empty()) status.state = state.front();
  std::from_chars(blocked.data(), blocked.data() + blocked.size(), status.blocked, 16);
  return true;
}

void read_name(pid_t tid, char (&name)[16]) noexcept {
  char buffer[32];
  const std::string_view text = read_file(tid, "comm", buffer, sizeof buffer);
  const std::string_view line = text.substr(0, text.find('\n')).substr(0, sizeof name - 1);
  std::memset(name, 0, sizeof name);
  std::copy(line.begin(), line.end(), name);  // nothing if the task has ended
}

}  // namespace distrun::rank
