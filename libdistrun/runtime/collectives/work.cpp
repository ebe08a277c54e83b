#include <distrun/runtime/collectives/work.hpp>

#include <algorithm>
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/common/board/slot_writer.hpp>
#include <distrun/runtime/device/stream.hpp>

namespace distrun::collectives {

Work::Work(CallKind kind, std::uint64_t number, TensorList result) noexcept
    : kind_(kind), number_(number), result_(std::move(result)) {}

Work::Work(CallKind kind, std::uint64_t number, Future<TensorList> future, std::shared_ptr<int> source) noexcept
    : kind_(kind), number_(number), future_(std::move(future)), source_(std::move(source)) {}

Work::Work(CallKind kind, std::uint64_t number, TensorList result, std::shared_ptr<StreamWork> on_stream,
           int from) noexcept
    : kind_(kind),
      number_(number),
      result_(std::move(result)),
      on_stream_(std::move(on_stream)),
      source_(kind == CallKind::Receive ? std::make_shared<int>(from) : nullptr) {}

bool Work::done() const {
  if (on_stream_ != nullptr) return on_stream_->done();
  return !future_ || future_->done();
}

std::exception_ptr Work::error() const {
  if (on_stream_ != nullptr) return on_stream_->error();
  return future_ ? future_->state()->error() : nullptr;
}

void Work::wait(std::optional<base::Nanoseconds> timeout, base::Location site) const {
  if (on_stream_ != nullptr) return on_stream_->wait(timeout, site);
  if (future_) future_->wait(timeout, site);
}

const TensorList& Work::result() const { return future_ ? future_->value() : result_; }

Future<TensorList> Work::future() const {
  if (future_) return *future_;
  if (on_stream_ == nullptr) {
    const Future<TensorList> made;
    made.set_result(result_);
    return made;
  }
  return future_on_streams();
}

// The value exists already, written by streams that wait for the work.
Future<TensorList> Work::future_on_streams() const {
  future::FutureInfo info(base::Location::here());
  info.kind = board::WaitKind::Collective;
  info.name = name_of(kind_);
  std::vector<std::unique_ptr<device::StreamGuard>> guards;
  for (const Tensor& tensor : result_) {
    if (std::find(info.devices.begin(), info.devices.end(), tensor.device()) != info.devices.end()) continue;
    info.devices.push_back(tensor.device());
    guards.push_back(std::make_unique<device::StreamGuard>(device::stream_from_pool(tensor.device())));
  }
  const auto made = Future<TensorList>::of(std::move(info));
  try {
    on_stream_->wait({}, base::Location::here());
    made.set_result(result_);
  } catch (...) {
    made.set_error(std::current_exception());
  }
  return made;
}

int Work::source_rank() const {
  if (kind_ != CallKind::Receive || !source_) {
    throw Error(ErrorKind::InvalidArgument,
                std::string(name_of(kind_)) + " has no source rank: only receives have one");
  }
  if (on_stream_ == nullptr && !done())
    throw Error(ErrorKind::InvalidArgument, "a receive that is not complete has no source rank yet; call wait() first");
  return *source_;
}

}  // namespace distrun::collectives
