#pragma once
// Keys typed during a run. While this lives, the terminal delivers them one by one and without echo; keys that end or
// stop a program (Ctrl-C, Ctrl-\, Ctrl-Z) keep their meaning. Does nothing without a terminal or in the background.
// Lives on: the coordinator's loop.
#include <termios.h>

#include <functional>
#include <memory>

#include <distrun/common/io/fd_watch.hpp>
#include <distrun/common/io/loop.hpp>

namespace distrun::cli {

class Keys {
 public:
  Keys(io::Loop& loop, std::function<void(char)> on_key);
  ~Keys();
  Keys(const Keys&) = delete;
  Keys& operator=(const Keys&) = delete;

  // Called before and after a stop by Ctrl-Z: the shell gets the terminal with its previous settings.
  void give_back();
  void take();

 private:
  void listen();
  void on_readable();

  io::Loop& loop_;
  std::function<void(char)> on_key_;
  termios before_{};
  bool taken_ = false;
  std::unique_ptr<io::FdWatch> input_;  // null while another process may read the terminal
  io::Alarm again_;
};

}  // namespace distrun::cli
