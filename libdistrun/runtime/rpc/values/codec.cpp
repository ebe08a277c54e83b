#include <distrun/runtime/rpc/values/codec.hpp>

#include <algorithm>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/rpc/values/differentiable.hpp>
#include <distrun/runtime/rpc/values/nested.hpp>
#include <distrun/runtime/rpc/values/object_type.hpp>
#include <distrun/runtime/tensor/sparse/sparse.hpp>
#include <distrun/runtime/tensor/sparse/sparse_entries.hpp>

namespace distrun::rpc {
namespace {

// Precedes each value. The numbers are part of the wire format.
enum class Tag : std::uint8_t {
  None,
  True,
  False,
  Int,
  Float,
  String,
  Tensor,
  NoTensor,
  Sparse,
  SparseAgain,
  Device,
  Worker,
  Function,
  List,
  Tuple,
  Map,
  Record,
  Instance,
  Reference,
};

constexpr std::size_t kFewTensors = 16;  // up to this many, a linear search finds them

[[noreturn]] void refuse(const std::string& text) { throw Error(ErrorKind::InvalidArgument, text); }

// Throws if `depth`, the nesting level of `value`, is too deep.
void check_depth(int depth, const Value& value) {
  if (depth <= kDepthMax) return;
  refuse("a value is nested " + std::to_string(static_cast<std::size_t>(depth) + levels_of(value)) +
         " levels deep, and at most " + std::to_string(kDepthMax) +
         " can be sent: make it flatter, or send its parts one by one");
}
void check_depth(int depth) {
  if (depth > kDepthMax) refuse("a value is nested more than " + std::to_string(kDepthMax) + " levels deep");
}

}  // namespace

void ValueWriter::write(const Value& value, int depth) {
  check_depth(depth, value);
  const auto tag = [this](Tag which) { bytes_.number(static_cast<std::uint8_t>(which)); };
  switch (value.kind()) {
    case Kind::None: return tag(Tag::None);
    case Kind::Bool: return tag(*value.get_if<bool>() ? Tag::True : Tag::False);
    case Kind::Int: return tag(Tag::Int), bytes_.number(*value.get_if<std::int64_t>());
    case Kind::Float: return tag(Tag::Float), bytes_.number(*value.get_if<double>());
    case Kind::String: return tag(Tag::String), bytes_.string(*value.get_if<std::string>());
    case Kind::Tensor: return write_tensor(*value.get_if<Tensor>());
    case Kind::Device: {
      const device::Device device = *value.get_if<device::Device>();
      return tag(Tag::Device), bytes_.number(static_cast<std::uint8_t>(device.type)), bytes_.number(device.index);
    }
    case Kind::Worker: {
      const WorkerInfo& worker = *value.get_if<WorkerInfo>();
      return tag(Tag::Worker), bytes_.string(worker.name()), bytes_.number(worker.id()),
             bytes_.number(worker.incarnation());
    }
    case Kind::Function: return tag(Tag::Function), bytes_.string(value.get_if<FunctionName>()->name);
    case Kind::List: return tag(Tag::List), write_items(value.get_if<List>()->items, depth);
    case Kind::Tuple: return tag(Tag::Tuple), write_items(value.get_if<Tuple>()->items, depth);
    case Kind::Map: return tag(Tag::Map), write_map(*value.get_if<Map>(), depth);
    case Kind::Record: return tag(Tag::Record), write_items(value.get_if<Record>()->fields, depth);
    case Kind::Instance: return tag(Tag::Instance), write_instance(*value.get_if<Instance>(), depth);
    case Kind::Reference: return tag(Tag::Reference), write_reference(**value.get_if<ReferencePtr>());
    case Kind::Future: break;
  }
  throw Error(ErrorKind::InvalidArgument, "RuntimeError",
              "Can not pickle torch.futures.Future: a future stays where it is; send the value that it gets");
}

void ValueWriter::write_reference(const Reference& reference) {
  Packing* const packing = Packing::current();
  if (packing == nullptr) {
    throw Error(ErrorKind::InvalidArgument, "RuntimeError",
                "Can not pickle rref in python pickler: " + reference.text() + " can only be sent in a call of RPC");
  }
  bytes_.number(packing->add(reference));
}

void ValueWriter::write_items(const ValueList& items, int depth) {
  bytes_.number(static_cast<std::uint32_t>(items.size()));
  for (const Value& each : items) write(each, depth + 1);
}

void ValueWriter::write_map(const Map& map, int depth) {
  bytes_.number(static_cast<std::uint32_t>(map.items.size()));
  for (const auto& [key, mapped] : map.items) {
    write(key, depth + 1);
    write(mapped, depth + 1);
  }
}

void ValueWriter::write_instance(const Instance& instance, int depth) {
  if (!instance.type->encode) {
    refuse("objects of the class " + instance.type->name +
           " can't be sent: its registration says nothing of that, by .by_value(encode, decode)");
  }
  bytes_.string(instance.type->name);
  write(instance.type->encode(instance.object.get()), depth + 1);
}

void ValueWriter::write_tensor(const Tensor& tensor) {
  if (!tensor.defined()) return bytes_.number(static_cast<std::uint8_t>(Tag::NoTensor));
  if (Departing* const departing = Departing::current()) departing->note(tensor);
  if (tensor.is_sparse()) return write_sparse(tensor);
  bytes_.number(static_cast<std::uint8_t>(Tag::Tensor));
  bytes_.number(place_of(tensor));
}

void ValueWriter::write_sparse(const Tensor& tensor) {
  const auto known =
      std::find_if(sparse_.begin(), sparse_.end(), [&](const Tensor& each) { return each.is_same(tensor); });
  if (known != sparse_.end()) {
    bytes_.number(static_cast<std::uint8_t>(Tag::SparseAgain));
    return bytes_.number(static_cast<std::uint32_t>(known - sparse_.begin()));
  }
  sparse_.push_back(tensor);
  const tensor::SparseParts& parts = tensor::sparse(tensor);
  bytes_.number(static_cast<std::uint8_t>(Tag::Sparse));
  bytes_.number(place_of(parts.indices));
  bytes_.number(place_of(parts.values));
  bytes_.number(static_cast<std::uint8_t>(parts.coalesced));
  bytes_.number(static_cast<std::uint32_t>(tensor.sizes().size()));
  for (const std::int64_t size : tensor.sizes()) bytes_.number(size);
}

std::uint32_t ValueWriter::place_of(const Tensor& tensor) {
  const auto next = static_cast<std::uint32_t>(tensors_.size());
  if (next < kFewTensors) {
    for (std::uint32_t place = 0; place < next; ++place) {
      if (tensors_[place].is_same(tensor)) return place;
    }
  } else {
    for (auto place = static_cast<std::uint32_t>(places_.size()); place < next; ++place) {
      places_.emplace(tensors_[place].impl(), place);
    }
    const auto known = places_.find(tensor.impl());
    if (known != places_.end()) return known->second;
  }
  tensors_.push_back(tensor);
  return next;
}

Value ValueReader::read(int depth) {
  check_depth(depth);
  const auto number = bytes_.number<std::uint8_t>();
  switch (static_cast<Tag>(number)) {
    case Tag::None: return {};
    case Tag::True: return Value(true);
    case Tag::False: return Value(false);
    case Tag::Int: return Value(bytes_.number<std::int64_t>());
    case Tag::Float: return Value(bytes_.number<double>());
    case Tag::String: return Value(bytes_.string());
    case Tag::Tensor: return read_dense();
    case Tag::NoTensor: return Value(Tensor());
    case Tag::Sparse: return read_sparse();
    case Tag::SparseAgain: return read_sparse_again();
    case Tag::Device: return read_device();
    case Tag::Worker: return read_worker();
    case Tag::Function: return Value(FunctionName{bytes_.string()});
    case Tag::List: return Value(List{read_items(depth)});
    case Tag::Tuple: return Value(Tuple{read_items(depth)});
    case Tag::Map: return read_map(depth);
    case Tag::Record: return Value(Record{read_items(depth)});
    case Tag::Instance: return read_instance(depth);
    case Tag::Reference: return read_reference();
  }
  refuse("a message has a value of the unknown kind " + std::to_string(number));
}

// Reserves little in advance, as the count is not verified: a list of nones takes 40 times the memory of its bytes.
ValueList ValueReader::read_items(int depth) {
  const std::uint32_t count = bytes_.count(1);
  ValueList items;
  items.reserve(std::min<std::size_t>(count, 1024));
  for (std::uint32_t i = 0; i < count; ++i) items.push_back(read(depth + 1));
  return items;
}

Value ValueReader::read_map(int depth) {
  const std::uint32_t count = bytes_.count(2);
  Map map;
  for (std::uint32_t i = 0; i < count; ++i) {
    Value key = read(depth + 1);
    map.items.emplace_back(std::move(key), read(depth + 1));
  }
  return Value(std::move(map));
}

Value ValueReader::read_device() {
  const auto type = bytes_.number<std::uint8_t>();
  const auto index = bytes_.number<std::int16_t>();
  if (type > static_cast<std::uint8_t>(device::DeviceType::Cuda) || index < 0 || index >= device::kDevicesMax) {
    refuse("a message has a device of kind " + std::to_string(type) + " with index " + std::to_string(index));
  }
  return Value(device::Device{static_cast<device::DeviceType>(type), index});
}

Value ValueReader::read_worker() {
  std::string name = bytes_.string();
  const auto id = bytes_.number<WorkerId>();
  const auto incarnation = bytes_.number<Incarnation>();
  return Value(WorkerInfo(std::move(name), WorkerKey(id, incarnation)));
}

Value ValueReader::read_reference() {
  const auto place = bytes_.number<std::uint32_t>();
  const Unpacking* const unpacking = Unpacking::current();
  if (unpacking == nullptr) refuse("a message has a reference where none may be");
  return Value(ReferencePtr(unpacking->at(place)));
}

Value ValueReader::read_instance(int depth) {
  const std::string name = bytes_.string();
  if (instances_ == Instances::Refused)
    refuse("a message has an object of the class \"" + name + "\" where none may be");
  const ObjectType* const type = find_object_type(name);
  if (type == nullptr || !type->decode) {
    throw Error(ErrorKind::Failed, "no class \"" + name +
                                       "\" whose objects can be sent is registered here. Default RPC "
                                       "pickler does not serialize function code: it must be there on both sides");
  }
  const Value state = read(depth + 1);
  return Value(Instance{type, type->decode(state)});
}

const Tensor& ValueReader::read_tensor() {
  const auto place = bytes_.number<std::uint32_t>();
#ifndef DISTRUN_FUZZ_PLANTED_BUG
  if (place >= tensors_.size()) {
    refuse("a message speaks of its tensor " + std::to_string(place) + " and has " + std::to_string(tensors_.size()));
  }
#endif
  return tensors_[place];
}

Value ValueReader::read_dense() {
  const Tensor& tensor = read_tensor();
  if (Arrival* const arrival = Arriving::current()) arrival->take(tensor, tensor);
  return Value(Tensor(tensor));
}

Value ValueReader::read_sparse() {
  const Tensor indices = read_tensor();
  const Tensor values = read_tensor();
  const bool coalesced = bytes_.number<std::uint8_t>() != 0;
  const std::uint32_t count = bytes_.count(sizeof(std::int64_t));
  if (count > Dims::kMost) refuse("a message has a sparse tensor of " + std::to_string(count) + " dimensions");
  Dims sizes;
  for (std::uint32_t i = 0; i < count; ++i) sizes.push_back(bytes_.number<std::int64_t>());
  Tensor sparse = tensor::sparse_coo(indices, values, sizes);
  if (coalesced) {
    const std::vector<std::int64_t> places = tensor::places_of(sparse);
    if (std::adjacent_find(places.begin(), places.end(), std::greater_equal<>()) != places.end()) {
      refuse("a message has a sparse tensor that says it is coalesced, and is not");
    }
    sparse = tensor::sparse_coo_unchecked(indices, values, sizes, true);
  }
  if (Arrival* const arrival = Arriving::current()) arrival->take(sparse, values);
  sparse_.push_back(sparse);
  return Value(std::move(sparse));
}

Value ValueReader::read_sparse_again() {
  const auto number = bytes_.number<std::uint32_t>();
  if (number >= sparse_.size()) refuse("a message speaks of a sparse tensor that it does not have");
  return Value(Tensor(sparse_[number]));
}

Packed pack(const Value& value) {
  Packed packed;
  wire::ByteWriter bytes;
  ValueWriter(bytes, packed.tensors).write(value);
  packed.bytes = bytes.take();
  return packed;
}

Value unpack(const Packed& packed) {
  wire::ByteReader bytes(wire::view_of(packed.bytes));
  ValueReader reader(bytes, packed.tensors);
  Value value = reader.read();
  bytes.expect_end();
  return value;
}

}  // namespace distrun::rpc
