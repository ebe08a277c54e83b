#pragma once
// What a collective, a send or a receive is told, and what it has come to.
#include <cstdint>
#include <memory>

#include <distrun/runtime/collectives/call.hpp>
#include <distrun/runtime/collectives/stream_work.hpp>
#include <distrun/runtime/future/future.hpp>
#include <distrun/runtime/tensor/core/tensor.hpp>

namespace distrun::collectives {

struct CallOptions {
  std::optional<base::Nanoseconds> timeout{};  // else the group's
  bool async = false;                          // returns at once; the work says when it is done
};

// A value; copies are the same work.
class Work {
 public:
  // Done.
  Work(CallKind kind, std::uint64_t number, TensorList result) noexcept;
  Work(CallKind kind, std::uint64_t number, Future<TensorList> future, std::shared_ptr<int> source) noexcept;
  // On a stream. `from`: of a receive, who sends it.
  Work(CallKind kind, std::uint64_t number, TensorList result, std::shared_ptr<StreamWork> on_stream,
       int from) noexcept;

  bool done() const;  // with a result or an error
  bool succeeded() const { return done() && error() == nullptr; }
  // Of one that is done: its error; null: it has none.
  std::exception_ptr error() const;
  // Blocks until it is done; results on GPUs are in the hands of the calling thread's current streams then, and no host
  // waits for those. With a backend for GPUs (nccl) only the current stream waits, unless there is a `timeout`, or it
  // is a barrier. Throws its error, and Error{Timeout} if `timeout` is over first: the work goes on all the same.
  void wait(std::optional<base::Nanoseconds> timeout = {}, base::Location site = base::Location::here()) const;
  // The tensors that it has written.
  const TensorList& result() const;
  Future<TensorList> future() const;

  // Of a receive that is done: the place in the group of who has sent it.
  int source_rank() const;
  CallKind kind() const noexcept { return kind_; }
  std::uint64_t number() const noexcept { return number_; }  // among the collectives of its group; 0 of others

 private:
  Future<TensorList> future_on_streams() const;

  CallKind kind_;
  std::uint64_t number_;
  TensorList result_;  // if there is no future
  std::optional<Future<TensorList>> future_;
  std::shared_ptr<StreamWork> on_stream_;  // null: it is not on one
  std::shared_ptr<int> source_;            // written before the future is done
};

}  // namespace distrun::collectives

namespace distrun {
using collectives::CallOptions;
using collectives::Work;
}  // namespace distrun
