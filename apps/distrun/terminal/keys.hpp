#pragma once
// Keys typed while a run goes on. The terminal hands them over one by one and unechoed as long as this lives; what
// ends or stops a program (Ctrl-C, Ctrl-\, Ctrl-Z) stays with the terminal. Without a terminal, or in the background,
// nothing happens. Lives on: the coordinator's loop.
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

  // Around a stop by Ctrl-Z: the shell gets the terminal as it was.
  void give_back();
  void take();

 private:
  void listen();
  void on_readable();

  io::Loop& loop_;
  std::function<void(char)> on_key_;
  termios before_{};
  bool taken_ = false;
  std::unique_ptr<io::FdWatch> input_;  // not while what is typed is for others
  io::Alarm again_;
};

}  // namespace distrun::cli
