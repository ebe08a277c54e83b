#pragma once
// The check of stream order. What comes before what is known when work is asked for, whenever it may run: work on one
// stream in the order in which it was put there; work after what the host has waited for; what waits for an event after
// all that the event stands for. Each stream has a vector clock of that, and so has the host. Two accesses to the same
// bytes of which one writes, and of which the later one's clock does not know the earlier, are a report: in the first
// run, and however the threads went.
//
// The host is one, whichever of its threads asks: that threads of the host, or ranks, keep their own order among
// themselves (by locks, messages, barriers) is not seen here, so it is taken for granted. What a wait has shown to one
// of them all know.
//
// Not thread-safe.
#include <deque>
#include <set>
#include <string>
#include <vector>

#include <distrun/runtime/device/driver.hpp>
#include <distrun/runtime/device/drivers/virtual/access_log.hpp>
#include <distrun/runtime/device/order_report.hpp>

namespace distrun::device::virtual_gpu {

// Which allocation some bytes are, for texts.
struct Block {
  std::uint64_t number = 0;  // grows with each; 0: none is known
  std::int64_t begin = 0;
  std::int64_t end = 0;
  core::CallSite site;
  bool is_freed = false;
  core::CallSite freed_at;
};

class OrderCheck {
 public:
  // The number of a stream, for all other calls. `name` is for texts.
  std::size_t add_stream(std::string name);

  // Work that touches those bytes is put on the stream; `block_of` tells which allocation an address belongs to.
  // What it has kept.
  AccessRecord touch(std::size_t stream, const char* name, const core::CallSite& site, Access access,
                     const Lattice& bytes, const Block& block);
  // Another process has touched bytes of `fresh`, and its clock does not know that access.
  void report_foreign(const AccessRecord& fresh, const std::string& name, const std::string& file, std::uint32_t line,
                      bool writes, const std::string& stream);
  // What a point on the stream stands for that is recorded now. Good as long as the check, and changes with the stream.
  const VectorClock& clock_of(std::size_t stream);
  // Work that is put on the stream from now on comes after all that `known` knows.
  void wait(std::size_t stream, const VectorClock& known) { clocks_[stream].join(known); }
  // The host has waited for it, or has seen that it is done.
  void host_saw(const VectorClock& known) { host_.join(known); }
  // Nobody can be in conflict with accesses to [begin, end) that `known` knows: the bytes were kept until those were
  // done.
  void forget(const Lattice& bytes, const VectorClock& known) { log_.forget(bytes.begin, bytes.end, known); }

  const VectorClock& host_clock() const noexcept { return host_; }
  const std::string& name_of(std::size_t stream) const { return names_[stream]; }

  // What was found since the last call.
  std::vector<OrderReport> take_reports();

 private:
  void report(const AccessRecord& earlier, const AccessRecord& fresh, const Block& block);
  // Whether it is a new one that there is room for.
  bool is_new(const std::string& text);

  // Of streams. They stay where they are when there are more.
  std::deque<std::string> names_;
  std::deque<VectorClock> clocks_;
  VectorClock host_;
  AccessLog log_;
  std::size_t log_limit_ = 1 << 16;  // what no longer matters is looked for beyond it
  std::vector<OrderReport> found_;
  std::set<std::string> told_;  // so that a loop is one report
};

}  // namespace distrun::device::virtual_gpu
