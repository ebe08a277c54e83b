#pragma once
// Random programs: each line computes a value from earlier ones, here or on another worker, by a call of an operator,
// of a function that makes further calls, or by a reference. The same program on one rank gives the expected results.
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <distrun/runtime/dist_autograd/backward.hpp>

namespace distrun::dist_autograd {

enum class Way : std::uint8_t {
  Here,
  Operator,   // called on a worker
  Async,      // likewise, asynchronously, and waited for at once
  Reference,  // created there and fetched
  Beyond,     // by a function there that calls the operator on the next worker
  Weighted,   // by a function there that involves one of its leaves
  Both,       // by a function there that returns the result and an unused one
};

struct Line {
  Way way = Way::Here;
  std::string op;  // "add", "sub", "mul", "mm", "cos", "sigmoid", "to_dense"
  std::vector<std::size_t> of;
  int worker = 0;
};

struct Program {
  int workers = 1;
  std::size_t dense = 0, sparse = 0;  // leaves, which are the first values
  std::vector<Line> lines;
  std::vector<std::size_t> roots;  // the roots are the sums of these values
  bool uses_all = false;           // every result is a part of a root
};

Program make_program(std::uint32_t seed, int workers, bool uses_all);
// Returns a readable form: "v4 = mul(v1, v2) on worker2, by a reference".
std::string to_string(const Program& program);

struct ProgramGradients {
  TensorList of_leaves;   // undefined: no gradient
  TensorList of_weights;  // by worker
};
ProgramGradients run_on_one(const Program& program, std::uint32_t seed);
// Runs on the calling rank, worker 0, in a separate context.
ProgramGradients run_on_several(const Program& program, std::uint32_t seed, Mode mode);

}  // namespace distrun::dist_autograd
