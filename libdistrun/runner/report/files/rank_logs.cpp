#include <distrun/runner/report/files/rank_logs.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include <distrun/common/base/error.hpp>

namespace distrun::report {
namespace {

constexpr mode_t kMode = 0666;  // reduced by the user's umask

}  // namespace

RankLogs::RankLogs(const std::string& directory, int world_size) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) throw Error(ErrorKind::Failed, "cannot create the directory " + directory + ": " + error.message());
  for (int rank = 0; rank < world_size; ++rank) {
    for (const char* stream : {".out", ".err"}) {
      Log log{directory + "/rank" + std::to_string(rank) + stream, {}};
      log.file = base::Fd(::open(log.path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kMode));
      if (!log.file) base::throw_errno("cannot write " + log.path, errno);
      logs_.push_back(std::move(log));
    }
  }
}

void RankLogs::write(int rank, launch::Stream stream, std::string_view bytes) {
  Log& log = logs_[2 * static_cast<std::size_t>(rank) + (stream == launch::Stream::Err ? 1 : 0)];
  while (log.file && !bytes.empty()) {
    const ssize_t written = ::write(log.file.get(), bytes.data(), bytes.size());
    if (written > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      if (failure_.empty()) failure_ = "cannot write " + log.path + ": " + base::errno_text(errno);
      log.file.reset();
    }
  }
}

}  // namespace distrun::report
