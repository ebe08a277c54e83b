#pragma once
// A graph function: a small program of operators, made by graph_builder.hpp, that is sent with the call, kept by its
// hash where it is called, and interpreted there. Nothing of it is machine code, and the callee need not know it.
//
// Whatever is a GraphFunction can be interpreted: its constructor has checked every register, operator and block,
// whoever it came from. Registers are numbered: parameters first, then constants, then what nodes define. A register
// is seen from where it is defined to the end of that block. Blocks are trees and functions call only functions that
// were finished before them, so there is no recursion, and no loop but counted ones.
#include <compare>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <distrun/runtime/rpc/functions/function.hpp>
#include <distrun/runtime/rpc/values/codec.hpp>

namespace distrun::rpc {

inline constexpr std::size_t kGraphBytesMax = std::size_t{1} << 20;  // encoded, with the tensors among its constants
inline constexpr std::size_t kGraphNodesMax = 65'536;                // of each function
inline constexpr std::size_t kGraphRegistersMax = 65'536;            // so, too
inline constexpr std::size_t kGraphFunctionsMax = 256;               // that one is made of
inline constexpr std::size_t kGraphNameMax = 255;
inline constexpr int kGraphDepthMax = 64;  // blocks in blocks, with those of functions that are called there

namespace graph {

using Register = std::uint32_t;
inline constexpr Register kNoRegister = 0xffffffff;

// The numbers are the wire's.
enum class NodeKind : std::uint8_t {
  Operator,    // out = name(in...), of autograd/operators/operator_table.hpp
  Arithmetic,  // out = of plain numbers; of tensors by the operators
  Copy,        // out = in[0], which may be assigned to
  Assign,      // out, which is there and no constant, = in[0]
  ForEach,     // out = each of the ints from in[0] to below in[1] in steps of in[2]; blocks[0] is its body
  If,          // blocks[0] where in[0] is true, else blocks[1]
  List,        // out = [in...]
  Tuple,
  Map,    // keys and values in turn
  Item,   // out = in[0][in[1]]
  Size,   // out = the length of in[0]
  Call,   // out = callees[callee](in...)
  Raise,  // an error of the type `name` with the text in[0]
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
  std::uint32_t number = 0;  // its place in the function as it is written, from 1; by GraphFunction
};

}  // namespace graph

// Of what a function is, with its constants: a key for caches. It holds against accidents, not against somebody who
// looks for two functions of one hash: the workers of a session trust each other.
struct GraphHash {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  friend auto operator<=>(const GraphHash&, const GraphHash&) = default;
};
std::string to_string(const GraphHash& hash);  // 32 hexadecimal digits

// Immutable; any thread.
class GraphFunction {
 public:
  struct Parts {
    std::string name;
    std::vector<Parameter> parameters;
    ValueList constants;  // none, numbers, strings, tensors of the CPU, and lists, tuples and maps of these
    std::vector<std::shared_ptr<const GraphFunction>> callees;
    std::uint32_t register_count = 0;
    graph::Block body;  // ends with a Return or a Raise
  };

  // Copies the tensors among the constants. Throws Error{InvalidArgument} for what can't be interpreted, with the type
  // AttributeError for an operator that is not there; Error{Overloaded} beyond the limits.
  explicit GraphFunction(Parts parts);

  const std::string& name() const noexcept { return parts_.name; }
  const std::vector<Parameter>& parameters() const noexcept { return parts_.parameters; }
  const ValueList& constants() const noexcept { return parts_.constants; }
  const std::vector<std::shared_ptr<const GraphFunction>>& callees() const noexcept { return parts_.callees; }
  std::uint32_t register_count() const noexcept { return parts_.register_count; }
  const graph::Block& body() const noexcept { return parts_.body; }
  int depth() const noexcept { return depth_; }                          // at most kGraphDepthMax
  std::size_t constant_bytes() const noexcept { return tensor_bytes_; }  // of the tensors among the constants

  // As it travels, with the functions that it calls; made once. Throws Error{Overloaded} beyond the limits, which
  // functions of a GraphBuilder or of decode_graph() keep.
  const Packed& encoded() const;  // in graph_codec.cpp, as the next
  GraphHash hash() const;         // of encoded()

 private:
  Parts parts_;
  int depth_ = 0;
  std::size_t tensor_bytes_ = 0;
  mutable std::once_flag once_;
  mutable Packed encoded_;
  mutable GraphHash hash_;
};

// "mul_", "+", "for_each", the function that is called: for the texts of errors.
std::string describe(const graph::Node& node, const GraphFunction& function);
std::string to_string(const GraphFunction& function);  // "heavy_rpc(tensor)"

}  // namespace distrun::rpc
