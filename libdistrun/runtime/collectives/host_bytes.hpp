#pragma once
// Tensors as bytes of the host, for backends that know no others. What lies in one piece on the CPU is taken as it is;
// of others there are copies beside, and what came of them is put back where it belongs.
//
// Stream order of GPUs: inputs are read once the current stream of the maker has made them (the host waits for that);
// results are written on the current streams of who puts them back, after all that the maker's streams had to do.
#include <vector>

#include <distrun/runtime/collectives/call.hpp>
#include <distrun/runtime/device/stream.hpp>
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::collectives {

class HostBytes {
 public:
  // Dense; checked by the caller.
  ConstBytes read(const Tensor& tensor);
  Bytes write(const Tensor& tensor) { return prepare(tensor, false); }
  // Both.
  Bytes change(const Tensor& tensor) { return prepare(tensor, true); }

  // Once all is written. Any thread: on its current streams of the tensors' devices, which are waited for by who uses
  // the tensors.
  void put_back();
  // Of the tensors that are written.
  std::vector<device::Device> gpus() const;
  const TensorList& written() const noexcept { return written_; }

 private:
  struct Copy {
    Tensor target;
    Tensor copy;                          // on the CPU
    std::shared_ptr<device::Event> free;  // from when on the target may be written; null: at once
  };

  Bytes prepare(const Tensor& tensor, bool with_elements);

  std::vector<Copy> copies_;
  TensorList kept_;
  TensorList written_;
};

}  // namespace distrun::collectives
