#pragma once
// A dump area of its own (dump_area.hpp), for a process that has no slot of a board: a lister or a zygote, which may
// crash while it loads a plugin. The coordinator makes it and reads it; the process writes to it.
#include <optional>

#include <distrun/common/base/fd.hpp>
#include <distrun/common/board/board.hpp>
#include <distrun/common/board/dump_area.hpp>

namespace distrun::board {

// Any thread.
class SharedDump {
 public:
  // Where no memory or descriptor is to be had, or files may not be that large, a crash has no stack: that is no reason
  // to load no plugin.
  SharedDump() noexcept;

  int fd() const noexcept { return fd_.get(); }  // -1: there is none
  // What the process has written; nothing if it has not crashed. Also after it has died half-way.
  std::optional<Dump> read() const;

 private:
  base::Fd fd_;  // of a size that nobody can change
  Mapping memory_;
};

// The process's side: stays mapped until the process ends. Throws Error{Failed} if the descriptor is no such memory.
DumpArea& map_dump(int fd);

}  // namespace distrun::board
