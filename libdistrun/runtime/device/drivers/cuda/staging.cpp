#include <distrun/runtime/device/drivers/cuda/staging.hpp>

#include <algorithm>

#include <distrun/common/base/error.hpp>

namespace distrun::device {
namespace {

constexpr std::int64_t kStagedAlignment = 64;  // host addresses equal device addresses modulo this

std::byte* pointer(std::int64_t address) { return reinterpret_cast<std::byte*>(static_cast<std::intptr_t>(address)); }
std::int64_t number(const void* address) { return static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(address)); }

// Returns the first address from `least` on with the same alignment as `like`.
std::int64_t aligned_as(std::int64_t like, std::int64_t least) {
  return least + ((like - least) % kStagedAlignment + kStagedAlignment) % kStagedAlignment;
}

}  // namespace

// A region of the device's memory, and the distance from there to its bytes on the host.
struct Staging::Staged {
  std::size_t region;
  Access access;
  Lattice bytes;
  std::int64_t distance = 0;
};

std::vector<Staging::Staged> Staging::stage(const Kernel& kernel) const {
  std::vector<Staged> staged;
  for (std::size_t i = 0; i < kernel.regions.size(); ++i) {
    std::optional<Lattice> bytes = lattice_of(kernel.regions[i]);
    if (!bytes || driver_.device_of(pointer(bytes->begin)) < 0) continue;  // host memory needs no staging
    staged.push_back({i, kernel.regions[i].access, std::move(*bytes), 0});
  }
  std::sort(staged.begin(), staged.end(),
            [](const Staged& a, const Staged& b) { return a.bytes.begin < b.bytes.begin; });
  return staged;
}

// Assigns host addresses from `begin` on to the spans; returns their end. Regions must be sorted by address.
std::int64_t Staging::lay_out(std::vector<Staged>& staged, std::int64_t begin) {
  std::int64_t span_end = 0, distance = 0, next = begin;
  for (Staged& region : staged) {
    if (region.bytes.begin >= span_end) distance = aligned_as(region.bytes.begin, next) - region.bytes.begin;
    region.distance = distance;
    span_end = std::max(span_end, region.bytes.end);
    next = span_end + distance;
  }
  return next;
}

void Staging::copy(StreamRef stream, const Lattice& bytes, std::int64_t to, std::int64_t from) const {
  if (bytes.has_holes()) return kernels_.copy(stream, pointer(to), pointer(from), bytes);
  driver_.copy(stream, pointer(to), pointer(from), static_cast<std::size_t>(bytes.run));
}

void Staging::launch(StreamRef stream, Kernel kernel) try {
  std::vector<Staged> staged = stage(kernel);
  const auto room = static_cast<std::size_t>(lay_out(staged, 0) + kStagedAlignment);
  const std::unique_ptr<Memory> host = host_.allocate(room);
  lay_out(staged, number(host->data()));
  host->record_stream(stream);  // even if only a part of what follows reaches the stream
  for (const auto& [region, access, bytes, distance] : staged) {
    if (access != Access::Write) copy(stream, bytes, bytes.begin + distance, bytes.begin);
  }
  for (const Staged& region : staged) {
    Region& there = kernel.regions[region.region];
    there.begin = pointer(number(there.begin) + region.distance);
  }
  driver_.call_host(stream, [body = std::move(kernel.body), regions = std::move(kernel.regions)] { body(regions); });
  for (const auto& [region, access, bytes, distance] : staged) {
    if (access != Access::Read) copy(stream, bytes, bytes.begin, bytes.begin + distance);
  }
} catch (base::Error& error) {
  error.while_doing(std::string("run ") + kernel.name + " on the host");
  throw;
}

}  // namespace distrun::device
