#include <distrun/common/wire/skip_table.hpp>

#include <array>

namespace distrun::wire {
namespace {

constexpr std::array<SkipEntry, 17> kSkips{{
    {"backend_unavailable", 72, "Skipped because distributed backend is not available."},
    {"small_worldsize", 73, "Skipped due to small world size."},
    {"no_cuda", 74, "CUDA is not available."},
    {"multi-gpu-1", 75, "Need at least 1 CUDA device"},
    {"nccl", 76, "c10d not compiled with NCCL support"},
    {"multi-gpu-2", 77, "Need at least 2 CUDA devices"},
    {"skipIfRocm", 78, "Test skipped for ROCm"},
    {"no_peer_access", 79, "Test skipped because no GPU peer access"},
    {"multi-gpu-3", 80, "Need at least 3 CUDA devices"},
    {"multi-gpu-4", 81, "Need at least 4 CUDA devices"},
    {"multi-gpu-5", 82, "Need at least 5 CUDA devices"},
    {"multi-gpu-6", 83, "Need at least 6 CUDA devices"},
    {"multi-gpu-7", 84, "Need at least 7 CUDA devices"},
    {"multi-gpu-8", 85, "Need at least 8 CUDA devices"},
    {"generic", 86, "Test skipped at subprocess level, look at subprocess log for skip reason"},
    {"odd_worldsize", 87, "Skipped due to odd world size."},
    {"importerror", 88, "Test skipped due to missing import"},
}};

}  // namespace

std::optional<SkipEntry> find_skip(int exit_code) noexcept {
  for (const SkipEntry& entry : kSkips) {
    if (entry.exit_code == exit_code) return entry;
  }
  return std::nullopt;
}

std::optional<SkipEntry> find_skip(std::string_view name) noexcept {
  for (const SkipEntry& entry : kSkips) {
    if (entry.name == name) return entry;
  }
  return std::nullopt;
}

}  // namespace distrun::wire
