#pragma once
// The standard input of a rank. A file or a pipe is the rank's to read. A terminal is not, since the rank is in the
// background there and would be stopped: what is typed is read here and handed on, and the terminal is not read while
// the rank does not take it. Lives on: the coordinator's loop.
#include <memory>
#include <string>

#include <distrun/common/base/fd.hpp>
#include <distrun/common/io/fd_watch.hpp>
#include <distrun/common/io/loop.hpp>

namespace distrun::cli {

class TerminalInput {
 public:
  explicit TerminalInput(io::Loop& loop);

  // For the rank; open as long as this lives.
  int rank_end() const noexcept { return reading_end_ ? reading_end_.get() : 0; }

 private:
  void listen();
  void on_readable();
  void hand_on();
  void end();

  io::Loop& loop_;
  base::Fd reading_end_;
  std::unique_ptr<io::FdWatch> writing_end_;  // gone: the rank has all that it gets
  std::unique_ptr<io::FdWatch> terminal_;     // not while what is typed is for others, or not taken
  std::string pending_;
  io::Alarm again_;
};

}  // namespace distrun::cli
