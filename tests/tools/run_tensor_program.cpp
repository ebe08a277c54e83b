// run_tensor_program [cpu|virtual]: runs tensor programs that arrive as lines on standard input, by the table of
// operators, and prints the result of each line. scripts/random_tensor_programs generates the lines and compares the
// answers with torch. A line is
//
//   begin                         forgets all names
//   NAME = input DTYPE SIZES STRIDES OFFSET leaf VALUE...
//                                 a tensor with this layout in a block of these values; `-` instead of `leaf`: not a
//                                 leaf
//   NAME = OPERATOR ARGUMENT...   value_text.hpp describes arguments; besides the operators of the table there are
//                                 detach NAME, to_dtype NAME "DTYPE"
//   recording on|off              for the lines that follow
//   show                          all named tensors
//   backward NAME:SALT...         from these results at once, with weights derived from SALT
//   operators                     the names in the table
//
// The answer is a line "NAME VALUE" for each new value (NAME.0 and so on for those of a list; for `backward` the
// gradients of the leaves), or one line "! TEXT" for an error, then a line ".". With `virtual` each line also runs on a
// virtual GPU, and results that differ there are added as "gpu NAME VALUE"; a line "order TEXT" is a report of its
// stream order. "!! TEXT" is an error that must not happen: not an Error, or on one device only.
#include <algorithm>
#include <iostream>
#include <mutex>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/autograd/backward.hpp>
#include <distrun/runtime/autograd/grad_mode.hpp>
#include <distrun/runtime/autograd/gradient.hpp>
#include <distrun/runtime/autograd/operators/all.hpp>
#include <distrun/runtime/autograd/operators/operator_table.hpp>
#include <distrun/runtime/device/order_report.hpp>
#include <distrun/runtime/tensor/ops.hpp>

#include "support/gpus.hpp"
#include "value_text.hpp"

namespace {

using namespace distrun;
using tensor::Value;
using tools::Names;
using tools::Words;
using Lines = std::vector<std::string>;
using Int = std::int64_t;

constexpr std::uint64_t kSeed = 7;  // for each line, so that devices get the same random numbers

// Returns -1.25 .. 1.25 in steps that every floating dtype represents exactly, in an order derived from the salt.
Tensor weights_of(const Tensor& root, Int salt) {
  std::vector<double> weights;
  for (Int i = 0; i < root.numel(); ++i) weights.push_back(static_cast<double>((5 * i + salt) % 11 - 5) / 4);
  const Tensor here = tensor::from_values(std::span<const double>(weights), root.sizes());
  return tensor::to(tensor::to(here, root.dtype()), root.device());
}

// The names of one program on one device.
class World {
 public:
  explicit World(Device device) : device_(device) {}

  // Returns the answer, without the final ".".
  Lines run(const Words& words);

 private:
  Lines step(const Words& words);
  Tensor input(const Words& words);
  Value call(const std::string& name, const std::vector<Value>& arguments) const;
  Lines show() const;
  Lines backward(const Words& words) const;

  Device device_;
  Names names_;
  Words leaves_;
  bool is_recording_ = true;
};

Lines World::run(const Words& words) {
  tensor::manual_seed(kSeed);
  const autograd::GradModeGuard mode(is_recording_ || words[0] == "backward");
  if (words.size() > 2 && words[1] == "=") return step(words);
  if (words[0] == "show") return show();
  if (words[0] == "backward") return backward(words);
  if (words[0] == "operators") return autograd::operator_names();
  if (words[0] == "recording" && words.size() == 2) {
    is_recording_ = words[1] == "on";
  } else if (words[0] == "begin") {
    *this = World(device_);
  } else {
    throw Error(ErrorKind::InvalidArgument, "no such line: " + words[0]);
  }
  return {};
}

Lines World::step(const Words& words) {
  const std::string& name = words[0];
  if (words[2] == "input") {
    names_[name] = input(words);
  } else {
    std::vector<Value> arguments;
    for (std::size_t i = 3; i < words.size(); ++i) arguments.push_back(tools::read_value(words[i], names_));
    names_[name] = call(words[2], arguments);
  }
  const TensorList* const list = std::get_if<TensorList>(&names_[name]);
  if (list == nullptr) return {name + " " + tools::text_of(names_[name])};
  Lines lines;
  for (std::size_t i = 0; i < list->size(); ++i) {
    const std::string part = name + "." + std::to_string(i);
    names_[part] = (*list)[i];
    lines.push_back(part + " " + tools::text_of((*list)[i]));
  }
  return lines;
}

Tensor World::input(const Words& words) {
  constexpr std::size_t kFirst = 8;
  if (words.size() < kFirst) throw Error(ErrorKind::InvalidArgument, "too few words for an input");
  const Tensor block = tensor::to(tools::read_elements(words[3], words, kFirst), device_);
  const Tensor result =
      tensor::as_strided(block, tools::read_dims(words[4]), tools::read_dims(words[5]), std::stoll(words[6]));
  if (words[7] != "leaf") return result;
  leaves_.push_back(words[0]);
  return set_requires_grad(result);
}

Value World::call(const std::string& name, const std::vector<Value>& arguments) const {
  if (name == "detach") return detach(std::get<Tensor>(arguments.at(0)));
  if (name == "to_dtype") {
    return to(std::get<Tensor>(arguments.at(0)), tensor::parse_dtype(std::get<std::string>(arguments.at(1))));
  }
  Value result = autograd::call_operator(name, arguments);
  const auto has_tensors = [](const Value& value) {
    return std::holds_alternative<Tensor>(value) || std::holds_alternative<TensorList>(value);
  };
  Tensor* const tensor = std::get_if<Tensor>(&result);
  const bool is_of_nothing = std::none_of(arguments.begin(), arguments.end(), has_tensors);
  if (tensor != nullptr && is_of_nothing) *tensor = to(*tensor, device_);  // created on the CPU
  return result;
}

Lines World::show() const {
  Lines lines;
  for (const auto& [name, value] : names_) {
    if (std::holds_alternative<Tensor>(value)) lines.push_back(name + " " + tools::text_of(value));
  }
  return lines;
}

Lines World::backward(const Words& words) const {
  TensorList roots, gradients;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::size_t colon = words[i].find(':');
    roots.push_back(std::get<Tensor>(tools::read_value(words[i].substr(0, colon), names_)));
    gradients.push_back(weights_of(roots.back(), std::stoll(words[i].substr(colon + 1))));
  }
  distrun::backward(roots, gradients);
  Lines lines;
  for (const std::string& leaf : leaves_) {
    lines.push_back(leaf + " " + tools::text_of(grad(std::get<Tensor>(names_.at(leaf)))));
  }
  return lines;
}

struct Answer {
  Lines lines;
  bool is_error = false;
};

Answer answer_of(World& world, const Words& words) {
  const auto told = [](std::string mark, std::string text) {
    for (char& each : text) each = each == '\n' ? ' ' : each;
    return Answer{{mark + text}, true};
  };
  try {
    return {world.run(words)};
  } catch (const Error& error) {
    return told("! ", error.what());
  } catch (const std::exception& error) {
    return told("!! ", error.what());
  }
}

// Appends the GPU's results that differ from the CPU's.
void add_gpu(Lines& lines, const Answer& cpu, const Answer& gpu) {
  if (cpu.is_error && gpu.is_error) return;
  if (cpu.is_error || gpu.is_error) {
    lines.push_back("!! on one device only: cpu " + cpu.lines.front() + ", gpu " + gpu.lines.front());
    return;
  }
  for (std::size_t i = 0; i < gpu.lines.size(); ++i) {
    if (i >= cpu.lines.size() || gpu.lines[i] != cpu.lines[i]) lines.push_back("gpu " + gpu.lines[i]);
  }
}

class OrderReports {
 public:
  OrderReports() {
    device::tell_order_reports_to([this](const device::OrderReport& report) {
      const std::lock_guard lock(mutex_);
      texts_.push_back("order " + report.text);
    });
  }
  ~OrderReports() { device::tell_order_reports_to({}); }

  void move_to(Lines& lines) {
    const std::lock_guard lock(mutex_);
    lines.insert(lines.end(), texts_.begin(), texts_.end());
    texts_.clear();
  }

 private:
  std::mutex mutex_;
  Lines texts_;
};

void answer_lines(bool with_gpu) {
  OrderReports reports;
  World cpu(device::kCpu), gpu(with_gpu ? device::cuda(0) : device::kCpu);
  for (std::string line; std::getline(std::cin, line);) {
    const Words words = tools::words_of(line);
    if (words.empty()) continue;
    const Answer answer = answer_of(cpu, words);
    Lines lines = answer.lines;
    if (with_gpu) add_gpu(lines, answer, answer_of(gpu, words));
    reports.move_to(lines);
    for (const std::string& each : lines) std::cout << each << '\n';
    std::cout << "." << std::endl;
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view device = argc > 1 ? argv[1] : "cpu";
  if (argc > 2 || (device != "cpu" && device != "virtual")) {
    std::cerr << "usage: run_tensor_program [cpu|virtual]\n";
    return 2;
  }
  const bool with_gpu = device == "virtual";
  if (with_gpu) testing::use_gpus();
  answer_lines(with_gpu);
  return 0;
}
