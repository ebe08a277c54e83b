#pragma once
// Options and results of a collective, a send or a receive.
#include <cstdint>
#include <memory>

#include <distrun/runtime/collectives/call.hpp>
#include <distrun/runtime/collectives/stream_work.hpp>
#include <distrun/runtime/future/future.hpp>
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::collectives {

// Options of one call.
struct CallOptions {
  std::optional<base::Nanoseconds> timeout{};  // default: the group's
  bool async = false;                          // return at once; the Work says when it is done
};

// A value type; copies refer to the same work.
class Work {
 public:
  // Work that is done.
  Work(CallKind kind, std::uint64_t number, TensorList result) noexcept;
  Work(CallKind kind, std::uint64_t number, Future<TensorList> future, std::shared_ptr<int> source) noexcept;
  // Work on a stream. `from`: the sender, for a receive.
  Work(CallKind kind, std::uint64_t number, TensorList result, std::shared_ptr<StreamWork> on_stream,
       int from) noexcept;

  bool done() const;                                               // with a result or an error
  bool succeeded() const { return done() && error() == nullptr; }  // without an error
  // Returns the error of finished work; null: none.
  std::exception_ptr error() const;
  // Blocks until the work is done. The calling thread's current streams then wait for results on GPUs; the host does
  // not. With a GPU backend (nccl) the host blocks only with a `timeout` or for a barrier. Throws the work's error, and
  // Error{Timeout} after `timeout`; the work continues.
  void wait(std::optional<base::Nanoseconds> timeout = {}, base::Location site = base::Location::here()) const;
  // Returns the written tensors.
  const TensorList& result() const;
  // Returns a future of the written tensors, or of the error.
  Future<TensorList> future() const;

  // Returns the sender's group rank of a finished receive.
  int source_rank() const;
  CallKind kind() const noexcept { return kind_; }           // AllReduce, Send, ...
  std::uint64_t number() const noexcept { return number_; }  // among the group's collectives; 0 for messages

 private:
  Future<TensorList> future_on_streams() const;

  CallKind kind_;
  std::uint64_t number_;
  TensorList result_;  // used without future_
  std::optional<Future<TensorList>> future_;
  std::shared_ptr<StreamWork> on_stream_;  // null: not on a stream
  std::shared_ptr<int> source_;            // written before the future is done
};

}  // namespace distrun::collectives

namespace distrun {
using collectives::CallOptions;
using collectives::Work;
}  // namespace distrun
