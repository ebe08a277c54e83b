// Prints a line for each GPU that the tests of this build would run on, and one for NCCL.
//
//   show_gpus             this machine's GPUs; without any, exits with 77 and the reason on stderr
//   show_gpus virtual N   N virtual GPUs
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include <distrun/runtime/collectives/nccl/nccl_line.hpp>
#include <distrun/runtime/core/module.hpp>
#include <distrun/runtime/device/gpu.hpp>

namespace {

using namespace distrun;

constexpr int kNone = 77, kUsage = 2;

void print_gpus() {
  constexpr double kGiB = 1 << 30;
  for (int i = 0; i < device::gpu_count(); ++i) {
    const device::Properties found = device::gpu_driver().properties(i);
    std::printf("cuda:%d  %s, %.1f GiB\n", i, found.name.c_str(), static_cast<double>(found.memory_bytes) / kGiB);
  }
}

std::string nccl_text() {
  const core::Module opened =
      core::open_module({"NCCL", collectives::nccl_line::kFile, collectives::nccl_line::kEntry});
  if (opened.entry == nullptr) return opened.why_none;
  const auto* const module = static_cast<const collectives::nccl_line::Module*>(opened.entry);
  if (module->version != collectives::nccl_line::kVersion)
    return opened.file + " belongs to another version of distrun";
  std::string text;
  const collectives::nccl_line::Library* const library = module->open(text);
  if (library == nullptr) return text;
  const auto [major, minor, patch] = library->version();
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

int show(bool is_virtual, int devices) {
  if (is_virtual) device::choose_gpu_driver({.driver = "virtual", .devices = devices});
  if (device::gpu_count() == 0) {
    std::fprintf(stderr, "%s\n", device::why_no_gpu().c_str());
    return kNone;
  }
  print_gpus();
  std::printf("nccl    %s\n", is_virtual ? "virtual" : nccl_text().c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc == 1) return show(false, 0);
  if (argc == 3 && std::string(argv[1]) == "virtual") return show(true, std::atoi(argv[2]));
  std::fprintf(stderr, "usage: show_gpus [virtual N]\n");
  return kUsage;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
