#include <distrun/launch/output_pipe.hpp>

#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

namespace distrun::launch {
namespace {

constexpr std::size_t kReadSize = 64 << 10;  // what a pipe holds
constexpr int kDrainReads = 64;

}  // namespace

OutputPipe::OutputPipe(io::Loop& loop, base::Fd reading_end, std::size_t cap) : cap_(cap), capture_(cap) {
  base::set_nonblocking(reading_end.get());
  watch_ = std::make_unique<io::FdWatch>(loop, std::move(reading_end), [this] { read_some(); });
}

// False once nothing is there.
bool OutputPipe::read_some() {
  std::array<char, kReadSize> buffer;
  const ssize_t got = ::read(watch_->fd(), buffer.data(), buffer.size());
  if (got > 0) {
    capture_.append({buffer.data(), static_cast<std::size_t>(got)});
    return true;
  }
  if (got == 0 || (errno != EAGAIN && errno != EINTR)) watch_.reset();
  return false;
}

void OutputPipe::drain() {
  for (int i = 0; i < kDrainReads && watch_; ++i) {
    if (!read_some()) return;
  }
}

}  // namespace distrun::launch
