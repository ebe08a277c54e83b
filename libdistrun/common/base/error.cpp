#include <distrun/common/base/error.hpp>

#include <cerrno>
#include <cstring>
#include <utility>

#include <distrun/common/base/limits.hpp>

namespace distrun::base {

const char* name_of(ErrorKind kind) noexcept {
  switch (kind) {
    case ErrorKind::Failed: return "failed";
    case ErrorKind::InvalidArgument: return "invalid argument";
    case ErrorKind::Overloaded: return "overloaded";
    case ErrorKind::Disconnected: return "disconnected";
    case ErrorKind::Timeout: return "timeout";
    case ErrorKind::Cancelled: return "cancelled";
    case ErrorKind::Unimplemented: return "unimplemented";
  }
  return "unknown";
}

Error::Error(ErrorKind kind, std::string text, Location where)
    : Error(kind, kind == ErrorKind::InvalidArgument ? "ValueError" : "RuntimeError", std::move(text), where) {}

Error::Error(ErrorKind kind, std::string type, std::string text, Location where)
    : kind_(kind), type_(std::move(type)), text_(std::move(text)), where_(where) {
  compose();
}

Error& Error::while_doing(std::string what) {
  context_.push_back(std::move(what));
  compose();
  return *this;
}

Error& Error::with_remote_trace(std::string trace) {
  remote_trace_ = std::move(trace);
  return *this;
}

Error& Error::with_cause(int rank) noexcept {
  if (because_of_ < 0) because_of_ = rank;
  return *this;
}

void Error::compose() {
  what_.clear();
  for (auto it = context_.rbegin(); it != context_.rend(); ++it) {
    what_ += *it;
    what_ += ": ";
  }
  what_ += text_;
}

std::string errno_text(int number) {
  char buffer[128];
  const char* text = strerror_r(number, buffer, sizeof buffer);  // the GNU version: returns the text
  const char* name = strerrorname_np(number);
  std::string result = text;
  if (name != nullptr) result.append(" (").append(name).append(")");
  if (const std::string limit = limit_behind(number); !limit.empty()) result.append("; ").append(limit);
  return result;
}

const char* what_of(const std::exception& thrown) noexcept {
  const char* const what = thrown.what();
  return what != nullptr ? what : "its what() is null";
}

std::string fork_errno_text(int number) {
  return number == EAGAIN ? errno_text(number) + "; " + limits_behind_fork() : errno_text(number);
}

void throw_errno(const std::string& what, int number, Location where) {
  throw Error(ErrorKind::Failed, "OSError", what + ": " + errno_text(number), where);
}

}  // namespace distrun::base
