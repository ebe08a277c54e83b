#pragma once
// Encodes values as bytes plus a list of the tensors in them. Each tensor is listed once, however often it occurs; a
// sparse tensor takes two entries.
//
// The reader does not trust its input: it checks lengths before it allocates, limits the nesting to kDepthMax, and
// creates only objects of registered classes.
#include <unordered_map>

#include <distrun/common/wire/buffer.hpp>
#include <distrun/runtime/rpc/values/value.hpp>

namespace distrun::rpc {

// Appends values. Throws Error{InvalidArgument} for a value that cannot be sent: a future ("Can not pickle
// torch.futures.Future"), an object without encoder, too deep a value; and what the encoders of classes throw.
class ValueWriter {
 public:
  // Both must outlive the writer, which appends to them.
  ValueWriter(wire::ByteWriter& bytes, TensorList& tensors) : bytes_(bytes), tensors_(tensors) {}
  void write(const Value& value) { write(value, 0); }  // appends one value

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
  TensorList sparse_;                                      // those already written, in order
  std::unordered_map<const void*, std::uint32_t> places_;  // of tensors; used once there are many
};

// Controls whether the reader may run the decoders of plugins' classes.
enum class Instances : std::uint8_t { Read, Refused };

// Throws Error{InvalidArgument} for bytes that no writer has produced, Error{Failed} for a class that is not registered
// in this process, and what the decoders of classes throw.
class ValueReader {
 public:
  // Reads from `bytes`, and takes tensors from `tensors`; both must outlive the reader.
  ValueReader(wire::ByteReader& bytes, const TensorList& tensors, Instances instances = Instances::Read)
      : bytes_(bytes), tensors_(tensors), instances_(instances) {}
  Value read() { return read(0); }  // the next value

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

// One complete value. Calls encode theirs this way, and users' encoders may, too.
struct Packed {
  wire::Bytes bytes;   // refer to the tensors by their index
  TensorList tensors;  // share their bytes with those of the value
};
// Encodes a value. Throws as ValueWriter.
Packed pack(const Value& value);
// Decodes a value. Throws as ValueReader, and Error{InvalidArgument} for bytes that are left over.
Value unpack(const Packed& packed);

}  // namespace distrun::rpc
