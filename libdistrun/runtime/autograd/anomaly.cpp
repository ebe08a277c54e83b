#include <distrun/runtime/autograd/anomaly.hpp>

#include <execinfo.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <string_view>

#include <distrun/common/base/demangle.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/runtime/tensor/operators/elementwise.hpp>
#include <distrun/runtime/tensor/operators/reduce.hpp>
#include <distrun/runtime/tensor/sparse/sparse.hpp>

namespace distrun::autograd {
namespace {

constexpr int kFramesMost = 32;
constinit thread_local const char* forward_name = nullptr;

// glibc writes "module(symbol+0x12) [0x7f..]", without the symbol where it knows none.
std::string frame_text(std::string_view line) {
  const std::size_t open = line.find('('), close = line.find(')');
  if (open == std::string_view::npos || close == std::string_view::npos) return std::string(line);
  const std::string_view module = line.substr(line.rfind('/', open) + 1, open - line.rfind('/', open) - 1);
  const std::string_view place = line.substr(open + 1, close - open - 1);
  const std::size_t plus = place.rfind('+');
  if (plus == 0 || plus == std::string_view::npos) return std::string(module) + std::string(place);
  return base::demangled(std::string(place.substr(0, plus))) + " in " + std::string(module);
}

bool has_nan(const Tensor& tensor) {
  if (tensor.is_sparse()) return has_nan(tensor::sparse(tensor).values);
  return tensor::is_floating(tensor.dtype()) && !tensor::all(tensor::eq(tensor, tensor)).item_as<bool>();
}

}  // namespace

ForwardName::ForwardName(const char* name) noexcept : before_(forward_name) { forward_name = name; }
ForwardName::~ForwardName() { forward_name = before_; }

std::string forward_site() {
  std::string text = forward_name == nullptr ? std::string() : "  in " + std::string(forward_name) + "\n";
  std::array<void*, kFramesMost> frames{};
  const int count = backtrace(frames.data(), kFramesMost);
  const std::unique_ptr<char*, void (*)(void*)> lines(backtrace_symbols(frames.data(), count), std::free);
  for (int i = 1; lines && i < count; ++i) text += "  " + frame_text(lines.get()[i]) + "\n";
  return text;
}

std::string forward_text(const Node& node) {
  if (node.forward_site().empty()) {
    return "The forward call of " + node.name() + " is known if it is made in anomaly mode, too.";
  }
  return "The forward call of " + node.name() + " was made at:\n" + node.forward_site();
}

void check_for_nan(const Node& node, const Gradients& results) {
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!results[i].defined() || !has_nan(results[i])) continue;
    throw Error(ErrorKind::Failed,
                "Function '" + node.name() + "' returned nan values in its " + std::to_string(i) + "th output.");
  }
}

}  // namespace distrun::autograd
