#pragma once
// Values as bytes, and the tensors that they hold as a list beside them: each once, however often it is there. A sparse
// tensor is two of the list.
//
// What is read may come from anybody: lengths are checked before anything is allocated, values are at most kDepthMax
// levels deep, and of classes only those that are registered are made.
#include <unordered_map>

#include <distrun/common/wire/buffer.hpp>
#include <distrun/runtime/rpc/values/value.hpp>

namespace distrun::rpc {

// Appends. Throws Error{InvalidArgument} for what can't travel: futures ("Can not pickle torch.futures.Future"),
// objects of classes that can't be encoded, values that are too deep; and what encoders of the value's classes throw.
class ValueWriter {
 public:
  ValueWriter(wire::ByteWriter& bytes, TensorList& tensors) : bytes_(bytes), tensors_(tensors) {}
  void write(const Value& value) { write(value, 0); }

 private:
  void write(const Value& value, int depth);
  void write_items(const ValueList& items, int depth);
  void write_map(const Map& map, int depth);
  void write_tensor(const Tensor& tensor);
  void write_sparse(const Tensor& tensor);
  void write_instance(const Instance& instance, int depth);
  void write_reference(const Reference& reference);
  std::uint32_t place_of(const Tensor& tensor);

  wire::ByteWriter& bytes_;
  TensorList& tensors_;
  TensorList sparse_;                                      // that were written, in their order
  std::unordered_map<const void*, std::uint32_t> places_;  // of tensors, once there are many
};

// Whether what a plugin has written may run.
enum class Instances : std::uint8_t { Read, Refused };

// Throws Error{InvalidArgument} for what no writer has written, Error{Failed} for a class that is not registered here,
// and what decoders of the value's classes throw.
class ValueReader {
 public:
  ValueReader(wire::ByteReader& bytes, const TensorList& tensors, Instances instances = Instances::Read)
      : bytes_(bytes), tensors_(tensors), instances_(instances) {}
  Value read() { return read(0); }

 private:
  Value read(int depth);
  ValueList read_items(int depth);
  Value read_map(int depth);
  Value read_dense();
  Value read_sparse();
  Value read_sparse_again();
  Value read_instance(int depth);
  Value read_reference();
  Value read_device();
  Value read_worker();
  const Tensor& read_tensor();

  wire::ByteReader& bytes_;
  const TensorList& tensors_;
  const Instances instances_;
  TensorList sparse_;
};

// One value, whole: what calls use for theirs, for users' own encoders.
struct Packed {
  wire::Bytes bytes;
  TensorList tensors;
};
Packed pack(const Value& value);
Value unpack(const Packed& packed);

}  // namespace distrun::rpc
