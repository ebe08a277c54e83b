#include <distrun/runtime/future/unseen_errors.hpp>

#include <typeinfo>
#include <utility>

#include <distrun/common/base/demangle.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/runtime/core/rank_state.hpp>

namespace distrun::future {

std::string describe_error(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const Error& caught) {
    return caught.type() + ": " + caught.what();
  } catch (const std::exception& caught) {
    return base::demangled_type(typeid(caught).name()) + ": " + base::what_of(caught);
  } catch (...) {
    return "an object that is not a std::exception";
  }
}

UnseenErrors::Showing::Showing(core::RankState& rank, std::string_view text) noexcept : line_(rank.line()) {
  if (line_ != nullptr) number_ = line_->show_error(text);
}

UnseenErrors::Showing::~Showing() {
  if (number_ >= 0) line_->hide_error(number_);
}

std::uint64_t UnseenErrors::add(std::string text) noexcept {
  const std::lock_guard lock(mutex_);
  const auto keep = [&] {
    if (texts_.size() >= kKept) return false;
    return texts_.try_emplace(last_ + 1, rank_, std::move(text)).second;
  };
  if (!base::if_memory(keep, [] { return false; })) ++not_kept_;
  return ++last_;
}

std::uint64_t UnseenErrors::count() noexcept {
  const std::lock_guard lock(mutex_);
  ++not_kept_;
  return ++last_;
}

std::uint64_t UnseenErrors::add_failure(std::exception_ptr failure) noexcept {
  const std::lock_guard lock(mutex_);
  const std::uint64_t number = kFailure | ++last_failure_;
  base::if_memory([&] { failures_.try_emplace(number, rank_, std::move(failure)); }, [&] { ++failures_not_kept_; });
  return number;
}

void UnseenErrors::remove(std::uint64_t number) noexcept {
  const std::lock_guard lock(mutex_);
  if ((number & kFailure) != 0) {
    if (failures_.erase(number) == 0 && number > failures_taken_until_) --failures_not_kept_;
  } else {
    if (texts_.erase(number) == 0 && number > taken_until_) --not_kept_;
  }
}

std::vector<std::string> UnseenErrors::take() {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> texts;
  texts.reserve(texts_.size() + 1);
  std::string more = not_kept_ > 0 ? "and " + std::to_string(not_kept_) + " more" : "";
  for (auto& [number, kept] : texts_) texts.push_back(std::move(kept.text));
  if (!more.empty()) texts.push_back(std::move(more));
  texts_.clear();
  taken_until_ = last_;
  not_kept_ = 0;
  return texts;
}

std::vector<std::exception_ptr> UnseenErrors::take_failures() {
  const std::lock_guard lock(mutex_);
  std::vector<std::exception_ptr> failures;
  failures.reserve(failures_.size() + 1);
  for (auto& [number, kept] : failures_) failures.push_back(kept.error);
  if (failures_not_kept_ > 0) {
    failures.push_back(std::make_exception_ptr(
        Error(ErrorKind::Overloaded, "MemoryError",
              std::to_string(failures_not_kept_) + " more errors were not kept for lack of memory")));
  }
  failures_.clear();
  failures_taken_until_ = kFailure | last_failure_;
  failures_not_kept_ = 0;
  return failures;
}

UnseenErrors& unseen_errors_of(core::RankState& rank) { return rank.part<UnseenErrors>(core::Part::UnseenErrors); }

}  // namespace distrun::future
