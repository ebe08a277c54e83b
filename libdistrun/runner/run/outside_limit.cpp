#include <distrun/runner/run/outside_limit.hpp>

#include <algorithm>
#include <utility>

namespace distrun::runner {
namespace {

// Returns "30 s"; nothing is left of a negative time.
std::string seconds_text(base::Nanoseconds time) {
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(std::max(time, base::Nanoseconds::zero()));
  return std::to_string(seconds.count()) + " s";
}

}  // namespace

OutsideLimit::OutsideLimit(io::Loop& loop, RunRecord& record, EventSink& events, Handlers handlers)
    : loop_(loop),
      record_(record),
      events_(events),
      handlers_(std::move(handlers)),
      near_(loop, [this] { announce(); }),
      over_(loop, [this] { handlers_.on_over(what_ + " ends in " + seconds_text(left())); }) {}

void OutsideLimit::set(base::TimePoint end, std::string what) {
  const base::TimePoint now = loop_.clock().now();
  end_ = end;
  what_ = std::move(what);
  near_.set(std::max(now, end - kNear));
  over_.set(std::max(now, end - kReserve));
}

void OutsideLimit::stop() {
  near_.cancel();
  over_.cancel();
}

void OutsideLimit::announce() {
  is_near_ = true;
  record_.notices.push_back(what_ + " ends in " + seconds_text(left()) + ": no further test or attempt begins, and " +
                            "what still runs in " + seconds_text(left() - kReserve) + " is cancelled");
  events_.on_notice(record_.notices.back());
  handlers_.on_near();
}

}  // namespace distrun::runner
