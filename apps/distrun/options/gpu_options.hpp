#pragma once
// --gpu-driver and --gpus: the devices behind cuda:i.
#include <distrun/runner/record/record.hpp>

#include "raw_options.hpp"

namespace distrun::cli {

void add_gpus(CLI::App& app, Raw& raw);
// Throws Error{InvalidArgument} for an unknown driver, for a number of GPUs if the driver does not take one, and for a
// missing number if it needs one. Counts this machine's GPUs if the driver uses them.
void add_gpu_settings(const Raw& raw, runner::Settings& settings);

}  // namespace distrun::cli
