#include <distrun/plugin/sdk/check.hpp>

#include <distrun/common/base/error.hpp>
#include <distrun/plugin/sdk/context.hpp>
#include <distrun/plugin/sdk/detail/current.hpp>
#include <distrun/plugin/sdk/detail/failure.hpp>
#include <distrun/plugin/sdk/options.hpp>

namespace distrun::detail {
namespace {

// "EXPECT(a == b)" and the operands on lines of their own.
std::string text_of(const CheckSite& site, const std::string& operands) {
  std::string text = std::string(site.macro) + "(" + site.expression + ")";
  if (!operands.empty()) text += "\n  " + operands;
  return text;
}

// In a process whose ranks are threads, a thread that a test has started is nobody's.
constexpr char kHowToBind[] = "\n  a thread works for a rank once it is bound to it: distrun::RankBinding bound(rank);";

// A failure that nobody could hear must not pass for success: outside a test this throws.
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

void expect_failed(const CheckSite& site, const std::string& operands) {
  report(text_of(site, operands), site.where, false);
}

void require_failed(const CheckSite& site, const std::string& operands) {
  report(text_of(site, operands), site.where, true);
  throw CheckFailed{};
}

void fail(const std::string& text, base::Location where) {
  report(text, where, true);
  throw CheckFailed{};
}

void expect_thrown(const std::string& instead, const CheckSite& site) {
  if (instead.empty()) return check_passed();
  expect_failed(site, instead);
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

}  // namespace distrun::detail
