#pragma once
// Checkpoints in files that other programs read too (tensor/io/safetensors.hpp): a module's state is the usual exchange
// format; together with its optimizer's state, training continues as if never interrupted.
#include <string>

#include <distrun/runtime/nn/module.hpp>
#include <distrun/runtime/nn/optimizer.hpp>

namespace distrun::nn {

// Writes the state_dict() with tensor::save_safetensors(), which replaces the file atomically.
void save(const Module& module, const std::string& path, const tensor::Metadata& metadata = {});
void save(Optimizer& optimizer, const std::string& path, const tensor::Metadata& metadata = {});

// Reads a file and loads it with load_state_dict(), to the module's device. Throws what these throw; then nothing is
// changed.
StateKeys load(Module& module, const std::string& path, bool strict = true);
void load(Optimizer& optimizer, const std::string& path);

}  // namespace distrun::nn
