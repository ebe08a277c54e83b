#include <distrun/runtime/nn/checkpoint.hpp>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/tensor/io/safetensors.hpp>

namespace distrun::nn {
namespace {

// Adds the file's name to errors about the state.
template <class Load>
auto load_state_of(const std::string& path, Load load_state) {
  const NamedTensors state = tensor::load_safetensors(path).tensors;
  try {
    return load_state(state);
  } catch (Error& error) {
    error.while_doing("load " + path);
    throw;
  }
}

}  // namespace

void save(const Module& module, const std::string& path, const tensor::Metadata& metadata) {
  tensor::save_safetensors(path, module.state_dict(), metadata);
}

void save(Optimizer& optimizer, const std::string& path, const tensor::Metadata& metadata) {
  tensor::save_safetensors(path, optimizer.state_dict(), metadata);
}

StateKeys load(Module& module, const std::string& path, bool strict) {
  return load_state_of(path, [&](const NamedTensors& state) { return module.load_state_dict(state, strict); });
}

void load(Optimizer& optimizer, const std::string& path) {
  load_state_of(path, [&](const NamedTensors& state) { optimizer.load_state_dict(state); });
}

}  // namespace distrun::nn
