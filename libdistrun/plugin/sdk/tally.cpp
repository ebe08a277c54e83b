#include <distrun/plugin/sdk/tally.hpp>

#include <distrun/plugin/sdk/detail/string.hpp>

namespace distrun::detail {

void Tally::report(const Failure& failure) {
  mark_failed();
  Failure sent = failure;
  {
    const std::lock_guard lock(mutex_);
    sent.text.insert(0, prefix_);
    if (body_goes_on_) sent.ends_body = false;
    if (!sent.ends_body && ++survived_ > kReportsMax) return;
  }
  send(sent);
}

void Tally::finish() {
  line_.checks(line_.self, checks_.exchange(0));
  std::uint64_t unsent = 0;
  {
    const std::lock_guard lock(mutex_);
    if (survived_ > kReportsMax) unsent = survived_ - kReportsMax;
    survived_ = 0;
  }
  if (unsent == 0) return;
  send({.type = "CheckFailed",
        .text = std::to_string(unsent) + " more checks failed on this rank; only the first " +
                std::to_string(kReportsMax) + " are reported one by one",
        .ends_body = false});
}

// Holds no lock, since sending may take long.
void Tally::send(const Failure& failure) {
  const distrun_error error{.size = sizeof(distrun_error),
                            .abi = DISTRUN_ABI,
                            .type = lend(failure.type),
                            .text = lend(failure.text),
                            .file = lend(failure.where.file),
                            .line = failure.where.line,
                            .ends_body = failure.ends_body,
                            .because_of = failure.because_of,
                            .pcs = failure.thrown_at.data(),
                            .pc_count = failure.thrown_at.size()};
  line_.error(line_.self, &error);
}

Scope::Scope(Tally& tally, const std::string& prefix, AfterFailure after) : tally_(tally) {
  const std::lock_guard lock(tally_.mutex_);
  length_before_ = tally_.prefix_.size();
  went_on_before_ = tally_.body_goes_on_;
  tally_.prefix_ += prefix;
  tally_.body_goes_on_ = after == AfterFailure::GoesOn;
}

Scope::~Scope() {
  const std::lock_guard lock(tally_.mutex_);
  tally_.prefix_.resize(length_before_);
  tally_.body_goes_on_ = went_on_before_;
}

}  // namespace distrun::detail
