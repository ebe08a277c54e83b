#include <distrun/runtime/rpc/graph/codec.hpp>

#include <unordered_map>

#include <distrun/common/base/error.hpp>

namespace distrun::rpc {
namespace {

using graph::Arithmetic;
using graph::Block;
using graph::Node;
using graph::NodeKind;

constexpr std::uint8_t kVersion = 1;
constexpr std::size_t kNodeSizeMin = 19;      // a node without name, inputs and blocks
constexpr std::size_t kFunctionSizeMin = 28;  // only the counts and the name's length

[[noreturn]] void refuse_size(std::size_t size) {
  throw Error(ErrorKind::Overloaded, "a graph function of " + std::to_string(size) + " bytes is larger than " +
                                         std::to_string(kGraphBytesMax) + "; give big tensors as arguments");
}

class Encoder {
 public:
  Packed encode(const GraphFunction& function) {
    bytes_.number(kVersion);
    collect(function);
    if (functions_.size() > kGraphFunctionsMax) {
      throw Error(ErrorKind::Overloaded, "graph function " + function.name() + " is made of more than " +
                                             std::to_string(kGraphFunctionsMax) + " functions");
    }
    bytes_.number(static_cast<std::uint32_t>(functions_.size()));
    std::size_t size = 0;
    for (const GraphFunction* each : functions_) {
      write(*each);
      size += each->constant_bytes();
    }
    size += bytes_.bytes().size();
    if (size > kGraphBytesMax) refuse_size(size);
    return {bytes_.take(), std::move(tensors_)};
  }

 private:
  // Callees come before their callers.
  void collect(const GraphFunction& function) {
    if (places_.contains(&function)) return;
    for (const auto& callee : function.callees()) collect(*callee);
    places_.emplace(&function, static_cast<std::uint32_t>(functions_.size()));
    functions_.push_back(&function);
  }

  void write(const GraphFunction& function) {
    bytes_.string(function.name());
    count(function.parameters().size());
    for (const Parameter& parameter : function.parameters()) bytes_.string(parameter.name);
    count(function.constants().size());
    ValueWriter values(bytes_, tensors_);
    for (const Value& constant : function.constants()) values.write(constant);
    count(function.callees().size());
    for (const auto& callee : function.callees()) bytes_.number(places_.at(callee.get()));
    bytes_.number(function.register_count());
    write(function.body());
  }
  void write(const Block& block) {
    count(block.nodes.size());
    for (const Node& node : block.nodes) write(node);
  }
  void write(const Node& node) {
    bytes_.number(static_cast<std::uint8_t>(node.kind));
    bytes_.number(static_cast<std::uint8_t>(node.operation));
    bytes_.number(node.callee);
    bytes_.number(node.out);
    bytes_.string(node.name);
    count(node.in.size());
    for (const graph::Register in : node.in) bytes_.number(in);
    bytes_.number(static_cast<std::uint8_t>(node.blocks.size()));
    for (const Block& block : node.blocks) write(block);
  }
  void count(std::size_t size) { bytes_.number(static_cast<std::uint32_t>(size)); }

  wire::ByteWriter bytes_;
  TensorList tensors_;
  std::vector<const GraphFunction*> functions_;
  std::unordered_map<const GraphFunction*, std::uint32_t> places_;
};

// Checks the encoding only; GraphFunction checks the meaning.
class Decoder {
 public:
  Decoder(wire::BytesView bytes, const TensorList& tensors) : bytes_(bytes), values_(bytes_, tensors) {}

  std::shared_ptr<const GraphFunction> decode() {
    if (const auto sent = bytes_.number<std::uint8_t>(); sent != kVersion) {
      throw Error(ErrorKind::Unimplemented, "a graph function of version " + std::to_string(sent) + " came, and only " +
                                                std::to_string(kVersion) + " is known here");
    }
    const std::uint32_t count = bytes_.count(kFunctionSizeMin);
    if (count == 0 || count > kGraphFunctionsMax) refuse(std::to_string(count) + " functions");
    std::size_t constants = bytes_.remaining();
    for (std::uint32_t i = 0; i < count; ++i) {
      functions_.push_back(std::make_shared<const GraphFunction>(read_function()));
      constants += functions_.back()->constant_bytes();
      if (constants > kGraphBytesMax) refuse_size(constants);
    }
    bytes_.expect_end();
    return functions_.back();
  }

 private:
  [[noreturn]] static void refuse(const std::string& what) {
    throw Error(ErrorKind::InvalidArgument, "a graph function with " + what + " is none");
  }

  GraphFunction::Parts read_function() {
    GraphFunction::Parts parts;
    parts.name = bytes_.string();
    const std::uint32_t parameters = bytes_.count(sizeof(std::uint32_t));
    for (std::uint32_t i = 0; i < parameters; ++i) parts.parameters.push_back({bytes_.string(), "any"});
    const std::uint32_t constants = bytes_.count(1);
    if (constants > kGraphRegistersMax) refuse(std::to_string(constants) + " constants");
    for (std::uint32_t i = 0; i < constants; ++i) parts.constants.push_back(values_.read());
    const std::uint32_t callees = bytes_.count(sizeof(std::uint32_t));
    for (std::uint32_t i = 0; i < callees; ++i) parts.callees.push_back(read_callee());
    parts.register_count = bytes_.number<std::uint32_t>();
    parts.body = read_block(1);
    return parts;
  }
  std::shared_ptr<const GraphFunction> read_callee() {
    const auto place = bytes_.number<std::uint32_t>();
    if (place >= functions_.size()) refuse("a function that comes after its caller");
    return functions_[place];
  }
  Block read_block(int depth) {
    if (depth > kGraphDepthMax) refuse("more than " + std::to_string(kGraphDepthMax) + " levels of blocks");
    const std::uint32_t count = bytes_.count(kNodeSizeMin);
    Block block;
    block.nodes.reserve(count);
    for (std::uint32_t i = 0; i < count; ++i) block.nodes.push_back(read_node(depth));
    return block;
  }
  Node read_node(int depth) {
    Node node;
    node.kind = read_enum(NodeKind::Return);
    node.operation = read_enum(Arithmetic::Not);
    node.callee = bytes_.number<std::uint32_t>();
    node.out = bytes_.number<graph::Register>();
    node.name = bytes_.string();
    const std::uint32_t inputs = bytes_.count(sizeof(graph::Register));
    node.in.reserve(inputs);
    for (std::uint32_t i = 0; i < inputs; ++i) node.in.push_back(bytes_.number<graph::Register>());
    const auto blocks = bytes_.number<std::uint8_t>();
    if (blocks > 2) refuse("a node of " + std::to_string(blocks) + " blocks");
    for (int i = 0; i < blocks; ++i) node.blocks.push_back(read_block(depth + 1));
    return node;
  }
  template <class Enum>
  Enum read_enum(Enum last) {
    const auto number = bytes_.number<std::uint8_t>();
    if (number > static_cast<std::uint8_t>(last)) refuse("the code " + std::to_string(number));
    return static_cast<Enum>(number);
  }

  wire::ByteReader bytes_;
  ValueReader values_;
  std::vector<std::shared_ptr<const GraphFunction>> functions_;
};

// Two 64-bit hashes of the same bytes with different mixing.
class Hasher {
 public:
  void add(wire::BytesView bytes) {
    add(bytes.size());
    while (!bytes.empty()) {
      std::uint64_t word = 0;
      const std::size_t size = std::min(bytes.size(), sizeof word);
      std::memcpy(&word, bytes.data(), size);
      add(word);
      bytes.remove_prefix(size);
    }
  }
  void add(std::uint64_t word) {
    high_ = mixed((high_ ^ word) * 0x9e3779b97f4a7c15U);
    low_ = mixed((low_ + word) * 0xd1b54a32d192ed03U) + high_;
  }
  GraphHash hash() const { return {mixed(high_), mixed(low_)}; }

 private:
  static std::uint64_t mixed(std::uint64_t word) {
    word = (word ^ (word >> 32)) * 0xbf58476d1ce4e5b9U;
    return word ^ (word >> 29);
  }

  std::uint64_t high_ = 0x243f6a8885a308d3U;
  std::uint64_t low_ = 0x13198a2e03707344U;
};

// A function's constants are always dense, contiguous CPU tensors.
GraphHash hash_of(const Packed& packed) {
  Hasher hasher;
  hasher.add(wire::view_of(packed.bytes));
  for (const Tensor& tensor : packed.tensors) {
    hasher.add(static_cast<std::uint64_t>(tensor.dtype()));
    hasher.add(static_cast<std::uint64_t>(tensor.dim()));
    for (const std::int64_t size : tensor.sizes()) hasher.add(static_cast<std::uint64_t>(size));
    const std::size_t bytes = static_cast<std::size_t>(tensor.numel()) * tensor::size_of(tensor.dtype());
    hasher.add(wire::view_of(tensor.data(), bytes));
  }
  return hasher.hash();
}

}  // namespace

const Packed& GraphFunction::encoded() const {
  std::call_once(once_, [this] {
    encoded_ = Encoder().encode(*this);
    hash_ = hash_of(encoded_);
  });
  return encoded_;
}

GraphHash GraphFunction::hash() const {
  encoded();
  return hash_;
}

std::string to_string(const GraphHash& hash) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const std::uint64_t half : {hash.high, hash.low}) {
    for (int shift = 60; shift >= 0; shift -= 4) text += kDigits[(half >> shift) & 15];
  }
  return text;
}

std::shared_ptr<const GraphFunction> decode_graph(wire::BytesView bytes, const TensorList& tensors) {
  if (bytes.size() > kGraphBytesMax) refuse_size(bytes.size());
  auto function = Decoder(bytes, tensors).decode();
  function->encoded();
  return function;
}

std::shared_ptr<const GraphFunction> GraphCache::find(const GraphHash& hash) {
  const std::lock_guard lock(mutex_);
  const auto found = places_.find(hash);
  if (found == places_.end()) return nullptr;
  functions_.splice(functions_.begin(), functions_, found->second);
  return functions_.front();
}

void GraphCache::add(std::shared_ptr<const GraphFunction> function) {
  const GraphHash hash = function->hash();
  Functions dropped;  // declared before the lock, so that it is destroyed after the lock is released
  const std::lock_guard lock(mutex_);
  if (places_.contains(hash)) return;
  functions_.push_front(std::move(function));
  places_.emplace(hash, functions_.begin());
  while (functions_.size() > capacity_) {
    places_.erase(functions_.back()->hash());
    dropped.splice(dropped.begin(), functions_, std::prev(functions_.end()));
  }
}

std::size_t GraphCache::size() const {
  const std::lock_guard lock(mutex_);
  return functions_.size();
}

}  // namespace distrun::rpc
