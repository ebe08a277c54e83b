#include <distrun/runtime/collectives/nccl/comparison.hpp>

#include <algorithm>
#include <cstring>

#include <distrun/runtime/collectives/shm/meeting.hpp>

namespace distrun::collectives {

Comparison::Comparison(const GroupInfo& group, std::shared_ptr<shm::Area> area)
    : group_(group),
      area_(std::move(area)),
      bells_(area_, group_),
      exchanges_(area_, group_, bells_),
      queue_(std::make_shared<CallQueue>(future::handler_pool())) {
  area_->take_seat(group_.rank);
}

std::shared_ptr<Comparison> Comparison::meet(Store& store, const GroupInfo& group, base::TimePoint deadline) {
  auto made = std::make_shared<Comparison>(group, shm::meet(store, group, deadline));
  made->gather(start_until(deadline));
  return made;
}

void Comparison::gather(const Call& call) {
  exchanges_.begin_call();
  exchanges_.gather(call);
  exchanges_.done();
}

void Comparison::compare(const Call& call, Told told) {
  Call compared = call;
  ++left_over_;
  queue_->post([&](std::uint64_t) {
    return [self = shared_from_this(), compared = std::move(compared), told = std::move(told)] {
      if (!self->is_wrong_) {
        std::exception_ptr wrong;
        try {
          self->gather(compared);
        } catch (...) {
          wrong = std::current_exception();
          self->is_wrong_ = true;
        }
        told(wrong);
      }
      --self->left_over_;
    };
  });
}

void Comparison::leave(Leaving how, const std::string& why) noexcept {
  std::call_once(left_, [&] {
    area_->end(group_.rank, how == Leaving::Done ? shm::Presence::Left : shm::Presence::GaveUp, why);
    bells_.ring_all();
    bells_.ring(group_.rank);
  });
}

}  // namespace distrun::collectives
