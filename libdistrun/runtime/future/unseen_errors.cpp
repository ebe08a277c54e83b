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
    return "something that is no std::exception";
  }
}

UnseenErrors::Showing::Showing(core::RankState& rank, const std::string& text) : line_(rank.line()) {
  if (line_ != nullptr) number_ = line_->show_error(text);
}

UnseenErrors::Showing::~Showing() {
  if (number_ >= 0) line_->hide_error(number_);
}

std::uint64_t UnseenErrors::add(std::string text) {
  const std::lock_guard lock(mutex_);
  if (texts_.size() >= kKept) {
    ++not_kept_;
  } else {
    texts_.try_emplace(last_ + 1, rank_, std::move(text));
  }
  return ++last_;
}

std::uint64_t UnseenErrors::add_failure(std::exception_ptr failure) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t number = kFailure | ++last_failure_;
  failures_.try_emplace(number, rank_, std::move(failure));
  return number;
}

void UnseenErrors::remove(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  if ((number & kFailure) != 0) return void(failures_.erase(number));
  if (texts_.erase(number) == 0 && number > taken_until_) --not_kept_;
}

std::vector<std::string> UnseenErrors::take() {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> texts;
  for (auto& [number, kept] : texts_) texts.push_back(std::move(kept.text));
  if (not_kept_ > 0) texts.push_back("and " + std::to_string(not_kept_) + " more");
  texts_.clear();
  taken_until_ = last_;
  not_kept_ = 0;
  return texts;
}

std::vector<std::exception_ptr> UnseenErrors::take_failures() {
  const std::lock_guard lock(mutex_);
  std::vector<std::exception_ptr> failures;
  for (auto& [number, kept] : failures_) failures.push_back(std::move(kept.error));
  failures_.clear();
  return failures;
}

UnseenErrors& unseen_errors_of(core::RankState& rank) { return rank.part<UnseenErrors>(core::Part::UnseenErrors); }

}  // namespace distrun::future
