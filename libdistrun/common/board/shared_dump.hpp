#pragma once
// A separate dump area (dump_area.hpp) for a process without a board slot: a lister or a zygote, which may crash while
// it loads a plugin. The coordinator creates and reads it; the process writes to it.
#include <optional>

#include <distrun/common/base/fd.hpp>
#include <distrun/common/board/board.hpp>
#include <distrun/common/board/dump_area.hpp>

namespace distrun::board {

// Thread-safe.
class SharedDump {
 public:
  // If memory or a descriptor is not available, or files may not be that large, a crash has no stack; the plugin is
  // loaded all the same.
  SharedDump() noexcept;

  int fd() const noexcept { return fd_.get(); }  // -1: none
  // Returns what the process has written, even if it died half-way; nullopt if it has not crashed.
  std::optional<Dump> read() const;

 private:
  base::Fd fd_;  // its size is sealed
  Mapping memory_;
};

// The process's side: maps the area until the process ends. Throws Error{Failed} if the descriptor is no such memory.
DumpArea& map_dump(int fd);

}  // namespace distrun::board
