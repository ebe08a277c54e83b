#pragma once
// A graph function: a small program of operators, built by builder.hpp. It is sent with the call, cached by its
// hash on the callee, and interpreted there. It has no machine code, and need not be known to the callee before.
//
// Every GraphFunction is safe to interpret, whoever sent it: the constructor checks all registers, operators and
// blocks. Registers are numbered: parameters first, then constants, then the results of nodes. A register is visible
// from its definition to the end of its block. Blocks form trees, and a function calls only functions that were
// finished before it. So there is no recursion, and all loops are counted.
#include <compare>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <distrun/runtime/rpc/functions/function.hpp>
#include <distrun/runtime/rpc/values/codec.hpp>

namespace distrun::rpc {

inline constexpr std::size_t kGraphBytesMax = std::size_t{1} << 20;  // encoded, with the tensors of constants
inline constexpr std::size_t kGraphNodesMax = 65'536;                // per function
inline constexpr std::size_t kGraphRegistersMax = 65'536;            // per function
inline constexpr std::size_t kGraphFunctionsMax = 256;               // in one graph function, with those that it calls
inline constexpr std::size_t kGraphNameMax = 255;
inline constexpr int kGraphDepthMax = 64;  // nested blocks, including those of called functions

namespace graph {

using Register = std::uint32_t;
inline constexpr Register kNoRegister = 0xffffffff;

// The numbers are part of the wire format.
enum class NodeKind : std::uint8_t {
  Operator,    // out = name(in...), from autograd/operators/operator_table.hpp
  Arithmetic,  // out = operation(in...), on plain numbers, or on tensors with the operators
  Copy,        // out = in[0]; out can be assigned to
  Assign,      // out = in[0]; out is already defined and is not a constant
  ForEach,     // out = each int from in[0] up to, but not including, in[1] in steps of in[2]; blocks[0] is the body
  If,          // blocks[0] if in[0] is true, else blocks[1]
  List,        // out = [in...]
  Tuple,
  Map,    // in = key, value, key, value, ...
  Item,   // out = in[0][in[1]]
  Size,   // out = the length of in[0]
  Call,   // out = callees[callee](in...)
  Raise,  // throws an error of the type `name` with the text in[0]
  Return,
};
enum class Arithmetic : std::uint8_t { Add, Sub, Mul, Div, FloorDiv, Mod, Neg, Eq, Ne, Lt, Le, Gt, Ge, Not };
const char* name_of(NodeKind kind) noexcept;
const char* name_of(Arithmetic operation) noexcept;  // "+"
bool is_unary(Arithmetic operation) noexcept;

struct Node;
struct Block {
  std::vector<Node> nodes;
};
struct Node {
  NodeKind kind = NodeKind::Return;
  Arithmetic operation = Arithmetic::Add;
  std::uint32_t callee = 0;
  Register out = kNoRegister;
  std::string name;
  std::vector<Register> in;
  std::vector<Block> blocks;
  std::uint32_t number = 0;  // position in source order, from 1; set by GraphFunction
};

}  // namespace graph

// Hash of a function and its constants; the key of caches. It protects against accidental collisions, not against an
// attacker who searches for one: the workers of a session trust each other.
struct GraphHash {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  friend auto operator<=>(const GraphHash&, const GraphHash&) = default;
};
std::string to_string(const GraphHash& hash);  // 32 hexadecimal digits

// Immutable and thread-safe.
class GraphFunction {
 public:
  struct Parts {
    std::string name;
    std::vector<Parameter> parameters;
    ValueList constants;  // none, numbers, strings, CPU tensors, and lists, tuples and maps of these
    std::vector<std::shared_ptr<const GraphFunction>> callees;
    std::uint32_t register_count = 0;
    graph::Block body;  // ends with a Return or a Raise
  };

  // Copies the tensors among the constants. Throws Error{InvalidArgument} for a function that cannot be interpreted
  // (with the type AttributeError for an unknown operator), Error{Overloaded} beyond the limits.
  explicit GraphFunction(Parts parts);

  const std::string& name() const noexcept { return parts_.name; }
  const std::vector<Parameter>& parameters() const noexcept { return parts_.parameters; }
  const ValueList& constants() const noexcept { return parts_.constants; }
  const std::vector<std::shared_ptr<const GraphFunction>>& callees() const noexcept { return parts_.callees; }
  std::uint32_t register_count() const noexcept { return parts_.register_count; }
  const graph::Block& body() const noexcept { return parts_.body; }
  int depth() const noexcept { return depth_; }                          // at most kGraphDepthMax
  std::size_t constant_bytes() const noexcept { return tensor_bytes_; }  // of the tensors among the constants

  // Returns the function as it is sent, with the functions that it calls; encodes it once. Throws Error{Overloaded}
  // beyond the limits, which functions of a GraphBuilder or of decode_graph() never exceed.
  const Packed& encoded() const;  // this and hash() are in codec.cpp
  GraphHash hash() const;         // of encoded()

 private:
  Parts parts_;
  int depth_ = 0;
  std::size_t tensor_bytes_ = 0;
  mutable std::once_flag once_;
  mutable Packed encoded_;
  mutable GraphHash hash_;
};

// Returns "mul_", "+", "for_each", or the name of the called function, for error texts.
std::string describe(const graph::Node& node, const GraphFunction& function);
std::string to_string(const GraphFunction& function);  // "heavy_rpc(tensor)"

}  // namespace distrun::rpc
