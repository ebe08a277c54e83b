#pragma once
// A dump area that a forked child writes and the test reads.
#include <sys/mman.h>

#include <new>

#include <distrun/common/board/dump_area.hpp>

namespace distrun::testing {

class SharedArea {
 public:
  SharedArea()
      : memory_(::mmap(nullptr, sizeof(board::DumpArea), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    if (memory_ == MAP_FAILED) throw std::bad_alloc();
  }
  SharedArea(const SharedArea&) = delete;
  SharedArea& operator=(const SharedArea&) = delete;
  ~SharedArea() { ::munmap(memory_, sizeof(board::DumpArea)); }

  board::DumpArea& operator*() const { return *static_cast<board::DumpArea*>(memory_); }
  board::DumpArea* operator->() const { return &**this; }

 private:
  void* memory_;
};

}  // namespace distrun::testing
