#include "gpu_options.hpp"

#include <CLI/CLI.hpp>

#include <utility>

#include "commands/gpus.hpp"
#include "parsing.hpp"

namespace distrun::cli {
namespace {

constexpr char kGpuDrivers[] = "auto|cuda|virtual|none";
constexpr int kGpusMax = 64;

[[noreturn]] void refuse_no_number() {
  refuse("--gpu-driver virtual: --gpus is 0, so there is no GPU to emulate; add --gpus N, 1 to " +
         std::to_string(kGpusMax));
}

[[noreturn]] void refuse_number(int number, const std::string& driver) {
  refuse("--gpus " + std::to_string(number) + ": the option is only for emulated GPUs, but --gpu-driver " + driver +
         " uses this machine's GPUs; add --gpu-driver virtual, or leave --gpus out (--gpus 0)");
}

}  // namespace

void add_gpus(CLI::App& app, Raw& raw) {
  app.add_option("--gpu-driver", raw.gpu_driver,
                 "GPUs behind the devices cuda:0, cuda:1, ...; auto or cuda (the same): those of this machine; "
                 "virtual: emulated ones, see --gpus; none: no devices")
      ->type_name(kGpuDrivers);
  app.add_option("--gpus", raw.gpus, "With --gpu-driver virtual, emulate N GPUs")->type_name("N");
}

void add_gpu_settings(const Raw& raw, runner::Settings& settings) {
  settings.gpu_driver = one_of("--gpu-driver", raw.gpu_driver, kGpuDrivers);
  const int emulated = number("--gpus", raw.gpus, 0, kGpusMax);
  if (settings.gpu_driver == "virtual") {
    if (emulated == 0) refuse_no_number();
    settings.gpus = emulated;
  } else if (settings.gpu_driver == "none") {
    settings.why_no_gpu = "--gpu-driver is none";
  } else {
    if (emulated > 0) refuse_number(emulated, settings.gpu_driver);
    CudaDevices found = find_cuda_devices();
    settings.gpus = found.count;
    settings.why_no_gpu = std::move(found.why_none);
  }
}

}  // namespace distrun::cli
