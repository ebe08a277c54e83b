#pragma once
// What was learned, in files that other programs read, too (tensor/io/safetensors.hpp): those of a module are what
// people of the field exchange; with those of its optimizer training goes on as if it had never been interrupted.
#include <string>

#include <distrun/runtime/nn/module.hpp>
#include <distrun/runtime/nn/optimizer.hpp>

namespace distrun::nn {

// Writes the state_dict(). As tensor::save_safetensors(): the file is there as a whole or not at all.
void save(const Module& module, const std::string& path, const tensor::Metadata& metadata = {});
void save(Optimizer& optimizer, const std::string& path, const tensor::Metadata& metadata = {});

// Reads a file and loads it by load_state_dict(), to whatever device the module is on. Throws what these throw; nothing
// is changed then.
StateKeys load(Module& module, const std::string& path, bool strict = true);
void load(Optimizer& optimizer, const std::string& path);

}  // namespace distrun::nn
