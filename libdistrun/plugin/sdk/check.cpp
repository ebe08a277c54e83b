#include <distrun/plugin/sdk/check.hpp>

#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/plugin/sdk/context.hpp>
#include <distrun/plugin/sdk/detail/current.hpp>
#include <distrun/plugin/sdk/detail/failure.hpp>
#include <distrun/plugin/sdk/options.hpp>

namespace distrun::detail {
namespace {

std::string& kept_reason() noexcept {
  thread_local std::string reason;
  return reason;
}

// If ranks are threads of a process, a thread that a test has started belongs to no rank.
constexpr char kHowToBind[] = "\n  bind the thread to a rank first: distrun::RankBinding bound(rank);";

// Outside a test there is no rank to report to: throws, so that the failure does not pass for success.
void report(const std::string& text, base::Location where, bool ends_body) {
  Rank* rank = current_rank();
  if (rank == nullptr) {
    throw Error(ErrorKind::Failed, "check failed outside a test: " + text + kHowToBind, where);
  }
  rank->tally().count_check();
  rank->tally().report({.type = "CheckFailed", .text = text, .where = where, .ends_body = ends_body});
}

}  // namespace

void check_passed() noexcept {
  if (Rank* rank = current_rank()) rank->tally().count_check();
}

void keep_reason(const std::string& reason) { kept_reason() = reason; }

FailedCheck::FailedCheck(const CheckSite& site) : site_(site), reason_(std::exchange(kept_reason(), {})) {}

std::string FailedCheck::text() const {
  std::string text = std::string(site_.macro) + "(" + site_.expression + ")";
  if (!reason_.empty()) text += "\n  " + reason_;
  return text + indented(message_.text()) + current_infos();
}

void Expect::operator&(const FailedCheck& check) const { report(check.text(), check.where(), false); }

void Require::operator&(const FailedCheck& check) const {
  report(check.text(), check.where(), true);
  throw CheckFailed{};
}

void fail(const std::string& text, base::Location where) {
  report(text + current_infos(), where, true);
  throw CheckFailed{};
}

std::string name_what_was_thrown() {
  try {
    throw;
  } catch (const CheckFailed&) {
    throw;
  } catch (const Skip&) {
    throw;
  } catch (const PeerFailed&) {
    throw;
  } catch (...) {
    const Failure failure = current_failure();
    return "threw " + failure.type + ": " + base::show(failure.text);
  }
}

std::string name_what_was_thrown(const std::string& difference) {
  return name_what_was_thrown() + " (" + difference + ")";
}

}  // namespace distrun::detail

namespace distrun {

std::string ExpectedError::difference(std::string_view text, const Error* error) const {
  std::string difference;
  if (has_kind_ && (error == nullptr || error->kind() != kind_)) {
    difference = error == nullptr ? "its kind is missing" : std::string("its kind is ") + base::name_of(error->kind());
    difference += std::string(", expected ") + base::name_of(kind_);
  }
  if (text.find(part_) == std::string_view::npos) {
    difference += (difference.empty() ? "" : "; ") + ("expected a text with " + base::show(part_));
  }
  return difference;
}

}  // namespace distrun
