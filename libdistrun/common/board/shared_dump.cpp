#include <distrun/common/board/shared_dump.hpp>

#include <exception>
#include <string>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/common/base/sealed_memory.hpp>

namespace distrun::board {

SharedDump::SharedDump() noexcept {
  try {
    base::Fd fd = make_memory(sizeof(DumpArea));
    memory_ = Mapping(fd.get(), sizeof(DumpArea), 0, false);
    fd_ = std::move(fd);
  } catch (const std::exception&) {
    memory_ = Mapping();
  }
}

std::optional<Dump> SharedDump::read() const {
  if (!fd_) return std::nullopt;
  return board::read(*reinterpret_cast<const DumpArea*>(memory_.data()));
}

DumpArea& map_dump(int fd) {
  if (base::sealed_size(fd) != sizeof(DumpArea)) {
    throw Error(ErrorKind::Failed, "descriptor " + std::to_string(fd) + " is not memory for the stacks of a crash");
  }
  static Mapping memory(fd, sizeof(DumpArea), 0, true);
  return *reinterpret_cast<DumpArea*>(memory.data());
}

}  // namespace distrun::board
