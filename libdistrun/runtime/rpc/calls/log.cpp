#include <distrun/runtime/rpc/calls/log.hpp>

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstdio>

namespace distrun::rpc {
namespace {

// A pipe for which poll() reports POLLOUT takes this many bytes without blocking.
constexpr std::size_t kPieceMax = PIPE_BUF;

bool write_piece(std::string_view piece) noexcept {
  pollfd out{STDERR_FILENO, POLLOUT, 0};
  if (::poll(&out, 1, 0) != 1 || (out.revents & POLLOUT) == 0) return false;
  return ::write(STDERR_FILENO, piece.data(), piece.size()) > 0;
}

// Writes how many texts were left out, if any. Returns false if there is no room.
bool write_left_out(std::atomic<unsigned>& left_out) noexcept {
  const unsigned count = left_out.exchange(0);
  if (count == 0) return true;
  char note[96];
  const int size = std::snprintf(note, sizeof note, "(RPC has left out %u texts: stderr was full)\n", count);
  if (write_piece({note, static_cast<std::size_t>(size)})) return true;
  left_out += count;
  return false;
}

}  // namespace

void log(std::string_view text) noexcept {
  static std::atomic<unsigned> left_out{0};
  bool is_written = write_left_out(left_out);
  for (; is_written && !text.empty(); text.remove_prefix(std::min(kPieceMax, text.size()))) {
    is_written = write_piece(text.substr(0, kPieceMax));
  }
  if (!is_written) ++left_out;
}

}  // namespace distrun::rpc
