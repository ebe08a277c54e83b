#pragma once
// The tensors of a call as the bytes that its backend knows: of the host, or of the GPU that they are on. What lies
// there in one piece is taken as it is; of others there are copies beside, and what came of them is put back where it
// belongs.
//
// Of the host, with tensors on GPUs: inputs are read once the current stream of the maker has made them (the host waits
// for that); results are written on the current streams of who puts them back, after all that the maker's streams had
// to do. Of GPUs: all is done on the current streams, and the host waits for nothing.
#include <vector>

#include <distrun/runtime/collectives/call.hpp>
#include <distrun/runtime/device/stream.hpp>
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::collectives {

class CallBytes {
 public:
  enum class Where : std::uint8_t { Host, Gpu };

  explicit CallBytes(Where where = Where::Host) noexcept : where_(where) {}

  // Dense; checked by the caller.
  ConstBytes read(const Tensor& tensor);
  Bytes write(const Tensor& tensor) { return prepare(tensor, false); }
  // Both.
  Bytes change(const Tensor& tensor) { return prepare(tensor, true); }
  // Written by somebody else, once all is written here.
  void add_written(const Tensor& tensor);

  // Once all is written. Any thread: on its current streams of the tensors' devices, which are waited for by who uses
  // the tensors.
  void put_back();
  // Of the tensors that are written.
  std::vector<device::Device> gpus() const;
  const TensorList& written() const noexcept { return written_; }
  // All, with the copies.
  TensorList touched() const;

 private:
  struct Copy {
    Tensor target;
    Tensor copy;
    std::shared_ptr<device::Event> free;  // from when on the target may be written; null: at once
  };

  Bytes prepare(const Tensor& tensor, bool with_elements);
  bool is_plain(const Tensor& tensor) const;
  Tensor copy_of(const Tensor& tensor) const;

  Where where_;
  std::vector<Copy> copies_;
  TensorList kept_;
  TensorList written_;
};

}  // namespace distrun::collectives
