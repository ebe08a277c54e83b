#pragma once
// --gpu-driver and --gpus: what is behind cuda:i.
#include <distrun/runner/record/record.hpp>

#include "raw_options.hpp"

namespace distrun::cli {

void add_gpus(CLI::App& app, Raw& raw);
// Throws Error{InvalidArgument} for an unknown driver, and for a number of GPUs where the driver takes none, or none
// where it needs one. Counts the GPUs of this machine if the driver is theirs.
void add_gpu_settings(const Raw& raw, runner::Settings& settings);

}  // namespace distrun::cli
