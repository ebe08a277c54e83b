#pragma once
// Programs by chance: each line makes a value of earlier ones, here or on another worker, by a call of an operator, of
// a function that calls on, or by a reference. Run on one rank they are the measure for what they are on several.
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <distrun/runtime/dist_autograd/backward.hpp>

namespace distrun::dist_autograd {

enum class Way : std::uint8_t {
  Here,
  Operator,   // called on a worker
  Async,      // so, and waited for at once
  Reference,  // made there and fetched
  Beyond,     // by a function there that calls the operator on the next worker
  Weighted,   // by a function there that takes part with a leaf of its own
  Both,       // by a function there that returns the result and another one, which nobody uses
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
  std::vector<std::size_t> roots;  // values whose sums are the roots
  bool uses_all = false;           // every result is a part of a root
};

Program make_program(std::uint32_t seed, int workers, bool uses_all);
// A person's form of it: "v4 = mul(v1, v2) on worker2, by a reference".
std::string to_string(const Program& program);

struct ProgramGradients {
  TensorList of_leaves;   // undefined: none
  TensorList of_weights;  // by worker
};
ProgramGradients run_on_one(const Program& program, std::uint32_t seed);
// By the calling rank, which is worker 0, in a context of its own.
ProgramGradients run_on_several(const Program& program, std::uint32_t seed, Mode mode);

}  // namespace distrun::dist_autograd
