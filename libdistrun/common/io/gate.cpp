#include <distrun/common/io/gate.hpp>

#include <distrun/common/base/error.hpp>

namespace distrun::io {

Gate::~Gate() { DISTRUN_ASSERT(inside_ == 0); }

Gate::Pass Gate::enter() {
  if (closing_) throw Error(ErrorKind::Cancelled, "the service is closing");
  ++inside_;
  return Pass(*this);
}

void Gate::close() {
  if (std::exchange(closing_, true)) return;
  if (inside_ == 0) empty_.set(true);
}

void Gate::leave() {
  if (--inside_ == 0 && closing_) empty_.set(true);
}

}  // namespace distrun::io
