#include <distrun/runtime/rpc/calls/log.hpp>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstdio>
#include <mutex>

#include <distrun/common/base/fd.hpp>

namespace distrun::rpc {
namespace {

// A pipe takes this many bytes in one piece or not at all, and has room for as many when poll() says so.
constexpr std::size_t kPieceMax = PIPE_BUF;

// A pipe is opened once more: writes to that description do not block, however many threads and processes share the
// pipe, and theirs are not changed. For each text, as stderr may have been redirected.
base::Fd own_end_of_pipe() noexcept {
  struct stat what {};
  if (::fstat(STDERR_FILENO, &what) != 0 || !S_ISFIFO(what.st_mode)) return {};
  return base::Fd(::open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_CLOEXEC));
}

bool has_room() noexcept {
  pollfd out{STDERR_FILENO, POLLOUT, 0};
  return ::poll(&out, 1, 0) == 1 && (out.revents & POLLOUT) != 0;
}

bool write_piece(int own_end, std::string_view piece) noexcept {
  if (own_end < 0 && !has_room()) return false;
  return ::write(own_end < 0 ? STDERR_FILENO : own_end, piece.data(), piece.size()) > 0;
}

// Writes how many texts were left out, if any. Returns false if there is no room.
bool write_left_out(int own_end, std::atomic<unsigned>& left_out) noexcept {
  const unsigned count = left_out.exchange(0);
  if (count == 0) return true;
  char note[96];
  const int size = std::snprintf(note, sizeof note, "(RPC has left out %u texts: stderr was full)\n", count);
  if (write_piece(own_end, {note, static_cast<std::size_t>(size)})) return true;
  left_out += count;
  return false;
}

}  // namespace

void log(std::string_view text) noexcept {
  static std::atomic<unsigned> left_out{0};
  static std::mutex writing;
  // A terminal or a socket can fill up between has_room() and the write: at least no other thread does that.
  const std::unique_lock alone(writing, std::try_to_lock);
  const base::Fd own_end = own_end_of_pipe();
  bool is_written = (own_end || alone) && write_left_out(own_end.get(), left_out);
  for (; is_written && !text.empty(); text.remove_prefix(std::min(kPieceMax, text.size()))) {
    is_written = write_piece(own_end.get(), text.substr(0, kPieceMax));
  }
  if (!is_written) ++left_out;
}

}  // namespace distrun::rpc
