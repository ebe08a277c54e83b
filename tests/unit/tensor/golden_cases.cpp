#include "golden_cases.hpp"

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include <distrun/runtime/tensor/core/copy.hpp>
#include <distrun/runtime/tensor/core/factories.hpp>

namespace distrun::tensor {
namespace {

Dims parse_sizes(const std::string& text) {
  Dims sizes;
  std::istringstream in(text == "-" ? "" : text);
  for (std::string size; std::getline(in, size, 'x');) sizes.push_back(std::stoll(size));
  return sizes;
}

template <class T>
std::vector<T> rest_of(std::istream& in) {
  std::vector<T> values;
  for (T value; in >> value;) values.push_back(value);
  return values;
}

// Returns the folder in the sources, or the one in the environment for a binary on another machine.
std::string golden_folder() {
  const char* const told = std::getenv("DISTRUN_TEST_GOLDEN");
  return told != nullptr ? told : DISTRUN_GOLDEN_DIR;
}

// Reads what follows the word "tensor": a name, a dtype, sizes with a colon, values.
void read_tensor(std::istream& in, GoldenCase& golden, Device device) {
  std::string name, dtype, sizes;
  in >> name >> dtype >> sizes;
  if (sizes.empty() || sizes.back() != ':') throw std::runtime_error("no sizes");
  sizes.pop_back();
  const DType type = parse_dtype(dtype);
  const Dims dims = parse_sizes(sizes);
  if (is_floating(type)) {
    const std::vector<double> values = rest_of<double>(in);
    golden.tensors[name] = to(from_values(std::span<const double>(values), dims), {type, device});
  } else {
    const std::vector<std::int64_t> values = rest_of<std::int64_t>(in);
    golden.tensors[name] = to(from_values(std::span<const std::int64_t>(values), dims), {type, device});
  }
}

}  // namespace

std::vector<GoldenCase> read_golden(const std::string& file, Device device) {
  std::ifstream in(golden_folder() + "/" + file);
  if (!in) throw std::runtime_error("cannot open " + file);
  std::vector<GoldenCase> cases;
  std::string text;
  for (int number = 1; std::getline(in, text); ++number) {
    std::istringstream line(text);
    std::string what, name;
    line >> what;
    if (what == "case") {
      line >> name;
      cases.push_back({name, file + ":" + std::to_string(number), {}, {}});
    } else if (what == "number" && !cases.empty()) {
      line >> name;
      cases.back().numbers[name] = rest_of<double>(line);
    } else if (what == "tensor" && !cases.empty()) {
      read_tensor(line, cases.back(), device);
    } else {
      throw std::runtime_error(file + ":" + std::to_string(number) + ": what is this?");
    }
  }
  return cases;
}

}  // namespace distrun::tensor
