#include <distrun/runtime/collectives/work.hpp>

#include <utility>

#include <distrun/common/base/error.hpp>

namespace distrun::collectives {

Work::Work(CallKind kind, std::uint64_t number, TensorList result) noexcept
    : kind_(kind), number_(number), result_(std::move(result)) {}

Work::Work(CallKind kind, std::uint64_t number, Future<TensorList> future, std::shared_ptr<int> source) noexcept
    : kind_(kind), number_(number), future_(std::move(future)), source_(std::move(source)) {}

void Work::wait(std::optional<base::Nanoseconds> timeout, base::Location site) const {
  if (future_) future_->wait(timeout, site);
}

const TensorList& Work::result() const { return future_ ? future_->value() : result_; }

Future<TensorList> Work::future() const {
  if (future_) return *future_;
  const Future<TensorList> made;
  made.set_result(result_);
  return made;
}

int Work::source_rank() const {
  if (kind_ != CallKind::Receive || !source_) {
    throw Error(ErrorKind::InvalidArgument,
                std::string(name_of(kind_)) + " has no source rank: only receives have one");
  }
  if (!done())
    throw Error(ErrorKind::InvalidArgument, "a receive that is not done has no source rank yet: wait() first");
  return *source_;
}

}  // namespace distrun::collectives
