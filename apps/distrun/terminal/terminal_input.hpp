#pragma once
// The standard input of a rank. The rank reads a file or a pipe directly. It cannot read a terminal, since it is in the
// background and would be stopped: distrun reads the input and passes it on, and does not read the terminal while the
// rank does not take it. Lives on: the coordinator's loop.
#include <memory>
#include <string>

#include <distrun/common/base/fd.hpp>
#include <distrun/common/io/fd_watch.hpp>
#include <distrun/common/io/loop.hpp>

namespace distrun::cli {

class TerminalInput {
 public:
  explicit TerminalInput(io::Loop& loop);

  // The rank's end; open as long as this lives.
  int rank_end() const noexcept { return reading_end_ ? reading_end_.get() : 0; }

 private:
  void listen();
  void on_readable();
  void hand_on();
  void end();

  io::Loop& loop_;
  base::Fd reading_end_;
  std::unique_ptr<io::FdWatch> writing_end_;  // null: the rank's input is complete
  std::unique_ptr<io::FdWatch> terminal_;     // null while another process may read it, or input is pending
  std::string pending_;
  io::Alarm again_;
};

}  // namespace distrun::cli
