#include <distrun/runtime/device/drivers/virtual/order_check.hpp>

#include <utility>

#include <distrun/runtime/device/byte_text.hpp>
#include <distrun/runtime/symbols/caller.hpp>

namespace distrun::device::virtual_gpu {
namespace {

constexpr std::size_t kReportsMax = 100;      // different ones
constexpr std::size_t kRecordsMax = 1 << 20;  // beyond, all records are dropped, and checking starts over

std::string at(const std::string& file, std::uint32_t line) {
  return line == 0 ? "" : " at " + file + ":" + std::to_string(line);
}

std::string what(bool writes, const std::string& name, const std::string& place, const std::string& stream) {
  return (writes ? "the write by " : "the read by ") + name + place + " on " + stream;
}

std::string what(const AccessRecord& access, const std::string& stream) {
  return what(access.writes, access.name, symbols::place_text(access.site), stream);
}

std::string unordered(const std::string& fresh, const std::string& earlier) {
  return fresh + " is not ordered after " + earlier + "; no event or synchronization orders them";
}

// Describes the range that both accesses share.
std::string common_bytes(const AccessRecord& a, const AccessRecord& b) {
  const std::int64_t begin = std::max(a.bytes.begin, b.bytes.begin);
  const std::int64_t end = std::min(a.bytes.end, b.bytes.end);
  return byte_text(static_cast<std::size_t>(end - begin));
}

}  // namespace

std::size_t OrderCheck::add_stream(std::string name) {
  names_.push_back(std::move(name));
  clocks_.emplace_back();
  return names_.size() - 1;
}

const VectorClock& OrderCheck::clock_of(std::size_t stream) {
  clocks_[stream].join(host_);
  return clocks_[stream];
}

AccessRecord OrderCheck::touch(std::size_t stream, const char* name, const core::CallSite& site, Access access,
                               const Lattice& bytes, const Block& block) {
  VectorClock& clock = clocks_[stream];
  clock.join(host_);
  AccessRecord fresh;
  fresh.bytes = bytes;
  fresh.stream = stream;
  fresh.count = clock.tick(stream);
  fresh.block = block.number;
  fresh.writes = access != Access::Read;
  fresh.name = name;
  fresh.site = site;
  log_.add(fresh, clock, [&](const AccessRecord& earlier) { report(earlier, fresh, block); });
  if (log_.size() <= log_limit_) return fresh;
  log_.forget_all(host_);
  if (log_.size() > kRecordsMax) log_ = AccessLog();
  log_limit_ = std::max(log_limit_, 2 * log_.size());
  return fresh;
}

bool OrderCheck::is_new(const std::string& text) { return told_.size() < kReportsMax && told_.insert(text).second; }

void OrderCheck::report_foreign(const AccessRecord& fresh, const std::string& name, const std::string& file,
                                std::uint32_t line, bool writes, const std::string& stream) {
  OrderReport found;
  found.second = symbols::location_of(fresh.site);
  found.text = unordered(what(fresh, names_[fresh.stream]), what(writes, name, at(file, line), stream));
  if (is_new(found.text)) found_.push_back(std::move(found));
}

void OrderCheck::report(const AccessRecord& earlier, const AccessRecord& fresh, const Block& block) {
  OrderReport found;
  found.first = symbols::location_of(earlier.site);
  found.second = symbols::location_of(fresh.site);
  found.text = unordered(what(fresh, names_[fresh.stream]), what(earlier, names_[earlier.stream]));
  if (!is_new(found.text)) return;
  found.text += " (" + common_bytes(earlier, fresh) + " in common";
  if (block.number != 0) {
    found.text += " of an allocation of " + byte_text(static_cast<std::size_t>(block.end - block.begin)) +
                  symbols::place_text(block.site);
  }
  found.text += ")";
  if (earlier.block != fresh.block && earlier.block != 0 && fresh.block != 0) {
    found.text +=
        "; in between, the memory was freed and allocated again; use record_stream() to tell the allocator which "
        "streams use it";
  }
  found_.push_back(std::move(found));
}

std::vector<OrderReport> OrderCheck::take_reports() { return std::exchange(found_, {}); }

}  // namespace distrun::device::virtual_gpu
