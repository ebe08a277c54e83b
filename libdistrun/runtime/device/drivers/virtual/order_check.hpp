#pragma once
// The check of stream order. The order of work is known when it is requested, whenever it may run: work on one stream
// runs in the order of the requests; after what the host has waited for; and, after a wait for an event, after all work
// that the event covers. Each stream and the host have a vector clock of this. If two accesses share a byte, one
// writes, and the later one's clock does not include the earlier, that is a report: in the first run already, and
// independent of timing.
//
// The host counts as one, with all its threads: the order that threads or ranks keep among themselves (by locks,
// messages, barriers) is invisible here, so it is assumed. After a wait by one thread, all are considered to know the
// result.
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

// The allocation of some bytes, for reports.
struct Block {
  std::uint64_t number = 0;  // increases with each; 0: unknown
  std::int64_t begin = 0;
  std::int64_t end = 0;
  core::CallSite site;
  bool is_freed = false;
  core::CallSite freed_at;
};

class OrderCheck {
 public:
  // Returns the stream's number for all other calls. `name` is for reports.
  std::size_t add_stream(std::string name);

  // Records that work which touches those bytes is put on the stream; `block` is their allocation. Returns the record.
  AccessRecord touch(std::size_t stream, const char* name, const core::CallSite& site, Access access,
                     const Lattice& bytes, const Block& block);
  // Reports that another process has touched bytes of `fresh` without its clock including that access.
  void report_foreign(const AccessRecord& fresh, const std::string& name, const std::string& file, std::uint32_t line,
                      bool writes, const std::string& stream);
  // Returns the clock of a point that is recorded on the stream now. The reference is valid as long as the check, and
  // changes with the stream.
  const VectorClock& clock_of(std::size_t stream);
  // Orders all later work of the stream after the work that `known` includes.
  void wait(std::size_t stream, const VectorClock& known) { clocks_[stream].join(known); }
  // The host has waited for it, or has seen that it is done.
  void host_saw(const VectorClock& known) { host_.join(known); }
  // Drops accesses to these bytes that `known` includes: the bytes were kept until those were done, so nothing can
  // conflict with them.
  void forget(const Lattice& bytes, const VectorClock& known) { log_.forget(bytes.begin, bytes.end, known); }

  const VectorClock& host_clock() const noexcept { return host_; }
  const std::string& name_of(std::size_t stream) const { return names_[stream]; }

  // Returns the reports since the last call.
  std::vector<OrderReport> take_reports();

 private:
  void report(const AccessRecord& earlier, const AccessRecord& fresh, const Block& block);
  // Returns whether the report is new and within the limit.
  bool is_new(const std::string& text);

  // By stream number; a deque keeps references valid when it grows.
  std::deque<std::string> names_;
  std::deque<VectorClock> clocks_;
  VectorClock host_;
  AccessLog log_;
  std::size_t log_limit_ = 1 << 16;  // beyond, accesses that no longer matter are dropped
  std::vector<OrderReport> found_;
  std::set<std::string> told_;  // reports already made, so that a loop causes only one
};

}  // namespace distrun::device::virtual_gpu
