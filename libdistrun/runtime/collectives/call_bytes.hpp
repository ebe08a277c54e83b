#pragma once
// The tensors of a call as bytes for its backend: on the host, or on the tensors' GPU. Contiguous tensors there are
// used directly; others are copied, and results are copied back.
//
// Host bytes of GPU tensors: inputs are read after the work that is on the creator's current stream (the host waits for
// it); results are written on the current streams of the thread that calls put_back(), after the work that was on the
// creator's streams. GPU bytes: everything runs on the current streams, and the host does not wait.
#include <vector>

#include <distrun/runtime/collectives/call.hpp>
#include <distrun/runtime/device/stream.hpp>
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::collectives {

class CallBytes {
 public:
  enum class Where : std::uint8_t { Host, Gpu };

  explicit CallBytes(Where where = Where::Host) noexcept : where_(where) {}

  // Return the bytes of a dense tensor, which the caller has checked.
  ConstBytes read(const Tensor& tensor);
  Bytes write(const Tensor& tensor) { return prepare(tensor, false); }
  // Returns the bytes of a tensor that is read and written.
  Bytes change(const Tensor& tensor) { return prepare(tensor, true); }
  // Adds a tensor that other code writes after put_back().
  void add_written(const Tensor& tensor);

  // Copies the results to their tensors after all bytes are written. May run on any thread: uses that thread's current
  // streams of the tensors' devices, for which users of the tensors must wait.
  void put_back();
  // Returns the GPUs of the written tensors.
  std::vector<device::Device> gpus() const;
  const TensorList& written() const noexcept { return written_; }
  // Returns all tensors, including the copies.
  TensorList touched() const;

 private:
  struct Copy {
    Tensor target;
    Tensor copy;
    std::shared_ptr<device::Event> free;  // after which the target may be written; null: at once
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
