#include <distrun/common/base/limits.hpp>

#include <sys/resource.h>

#include <cerrno>
#include <cstdio>
#include <iterator>

namespace distrun::base {
namespace {

struct Known {
  __rlimit_resource resource;
  const char* what;
  const char* name;
  const char* option;  // of ulimit
  bool bytes;
};

constexpr Known kFiles{RLIMIT_NOFILE, "open files", "RLIMIT_NOFILE", "-n", false};
constexpr Known kFileSize{RLIMIT_FSIZE, "file size", "RLIMIT_FSIZE", "-f", true};
constexpr Known kAddresses{RLIMIT_AS, "address space", "RLIMIT_AS", "-v", true};
constexpr Known kProcesses{RLIMIT_NPROC, "this user's processes", "RLIMIT_NPROC", "-u", false};

std::string human_bytes(rlim_t bytes) {
  constexpr const char* kUnits[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < std::size(kUnits)) {
    value /= 1024;
    ++unit;
  }
  char text[48];
  std::snprintf(text, sizeof text, value < 10 && unit > 0 ? "%.1f" : "%.0f", value);
  std::string digits = text;
  if (digits.ends_with(".0")) digits.resize(digits.size() - 2);
  return digits + " " + kUnits[unit];
}

// Returns an empty text if there is no limit.
std::string text_of(const Known& known) {
  rlimit limit{};
  if (::getrlimit(known.resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return "";
  const std::string value = known.bytes ? human_bytes(limit.rlim_cur) : std::to_string(limit.rlim_cur);
  return std::string("the limit of ") + known.what + " is " + value + " (" + known.name +
         "); raise it, for example with ulimit " + known.option;
}

}  // namespace

std::string limit_behind(int number) {
  switch (number) {
    case EMFILE: return text_of(kFiles);
    case ENFILE: return "the whole machine's limit of open files is reached: /proc/sys/fs/file-max";
    case EFBIG: return text_of(kFileSize);
    case ENOMEM: return text_of(kAddresses);
    case ENOSPC: return "free some space, or use another path";
    default: return "";
  }
}

std::string limits_behind_fork() {
  std::string text;
  for (const Known& known : {kAddresses, kProcesses}) {  // the latter is always set, and seldom the cause
    if (const std::string limit = text_of(known); !limit.empty()) text += (text.empty() ? "" : "; ") + limit;
  }
  return text.empty() ? "the limit of processes of the machine or the control group (pids.max) is reached" : text;
}

}  // namespace distrun::base
