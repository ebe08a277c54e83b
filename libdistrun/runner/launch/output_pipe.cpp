#include <distrun/runner/launch/output_pipe.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

namespace distrun::launch {
namespace {

constexpr std::size_t kReadSize = 64 << 10;  // the capacity of a pipe
constexpr int kDrainReads = 64;

}  // namespace

OutputPipe::OutputPipe(io::Loop& loop, base::Fd reading_end, std::size_t cap) : loop_(loop), cap_(cap), capture_(cap) {
  base::set_nonblocking(reading_end.get());
  watch(std::move(reading_end));
}

void OutputPipe::watch(base::Fd reading_end) {
  watch_ = std::make_unique<io::FdWatch>(loop_, std::move(reading_end), [this] { read_some(); });
}

void OutputPipe::hold(bool hold) {
  if (hold && watch_) {
    held_ = base::Fd(::fcntl(watch_->fd(), F_DUPFD_CLOEXEC, 3));
    if (held_) watch_.reset();  // without a spare descriptor, reading goes on
  } else if (!hold && held_) {
    watch(std::move(held_));
  }
}

// Returns false once nothing is left.
bool OutputPipe::read_some() {
  std::array<char, kReadSize> buffer;
  const ssize_t got = ::read(fd(), buffer.data(), buffer.size());
  if (got > 0) {
    const std::string_view bytes(buffer.data(), static_cast<std::size_t>(got));
    capture_.append(bytes);
    on_bytes_(bytes);
    return true;
  }
  if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
    watch_.reset();
    held_.reset();
  }
  return false;
}

void OutputPipe::drain() {
  for (int i = 0; i < kDrainReads && fd() >= 0; ++i) {
    if (!read_some()) return;
  }
}

}  // namespace distrun::launch
