#include <distrun/common/wire/daemon.hpp>

#include <signal.h>

#include <algorithm>
#include <array>

#include <distrun/common/base/error.hpp>

namespace distrun::wire {
namespace {

struct Limit {
  const char* what;
  std::size_t count;
  std::size_t bytes;
};

void check_list(const std::vector<std::string>& texts, const Limit& limit) {
  std::size_t bytes = 0;
  for (const std::string& text : texts) {
    bytes += text.size() + 1;
#ifndef DISTRUN_FUZZ_PLANTED_BUG
    // Program arguments end at the first zero byte: text after it would be lost silently.
    if (text.find('\0') != std::string::npos) {
      throw Error(ErrorKind::InvalidArgument, std::string(limit.what) + " contain a zero byte");
    }
#endif
  }
  if (texts.size() <= limit.count && bytes <= limit.bytes) return;
  throw Error(ErrorKind::Overloaded, std::string(limit.what) + " are " + std::to_string(texts.size()) + " with " +
                                         std::to_string(bytes) + " bytes; the daemon accepts " +
                                         std::to_string(limit.count) + " with " + std::to_string(limit.bytes) +
                                         "; leave --daemon out, or pass less");
}

}  // namespace

void check(const Submission& submission) {
  if (submission.arguments.empty()) throw Error(ErrorKind::InvalidArgument, "a run has no program name");
  check_list(submission.arguments, {"the arguments", kArgumentsMax, kArgumentsBytesMax});
  check_list(submission.environment, {"the environment variables", kVariablesMax, kEnvironmentBytesMax});
  if (submission.file_mask > 0777) {
    throw Error(ErrorKind::InvalidArgument, "umask " + std::to_string(submission.file_mask) + " is over 0777");
  }
}

bool may_be_sent(const RunSignal& signal) noexcept {
  static constexpr std::array kAllowed{SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH};
  return std::find(kAllowed.begin(), kAllowed.end(), signal.number) != kAllowed.end();
}

}  // namespace distrun::wire
