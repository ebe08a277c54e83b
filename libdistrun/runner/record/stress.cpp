#include <distrun/runner/record/stress.hpp>

#include <boost/math/distributions/binomial.hpp>

#include <algorithm>
#include <cctype>
#include <cstdio>

#include <distrun/runner/record/judge.hpp>

namespace distrun::runner {
namespace {

constexpr double kOutside = 0.025;  // on each side of the interval

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

std::string number_text(const char* format, double number) {
  char text[32];
  std::snprintf(text, sizeof text, format, number);
  return text;
}

}  // namespace

std::string without_numbers(std::string_view message) {
  std::string text;
  for (std::size_t i = 0; i < message.size(); ++i) {
    if (!is_digit(message[i])) {
      text += message[i];
      continue;
    }
    text += 'N';
    const bool is_hex = message.substr(i).starts_with("0x");
    if (is_hex) ++i;
    while (i + 1 < message.size() && (is_hex ? std::isxdigit(static_cast<unsigned char>(message[i + 1])) != 0
                                             : is_digit(message[i + 1]) || message[i + 1] == '.')) {
      ++i;
    }
  }
  return text;
}

bool count(StressRecord& stress, const AttemptRecord& attempt) {
  ++stress.runs;
  stress.total += attempt.duration;
  stress.longest = std::max(stress.longest, attempt.duration);
  if (is_good(attempt.verdict)) return false;
  ++stress.failures;
  const std::string kind = without_numbers(attempt.message);
  const auto known = std::find_if(stress.kinds.begin(), stress.kinds.end(), [&](const StressFailure& each) {
    return each.verdict == attempt.verdict && without_numbers(each.message) == kind;
  });
  if (known != stress.kinds.end()) return ++known->count, false;
  if (stress.kinds.size() == kStressKindsMax) return false;
  stress.kinds.push_back({attempt.verdict, attempt.message, 1, attempt.n});
  return true;
}

Interval failure_interval(int failures, int runs) {
  using Binomial = boost::math::binomial_distribution<double>;
  if (runs <= 0) return {};
  return {Binomial::find_lower_bound_on_p(runs, failures, kOutside),
          failures == runs ? 1.0 : Binomial::find_upper_bound_on_p(runs, failures, kOutside)};
}

std::string percent(double share) {
  if (share <= 0) return "0 %";
  const double percents = share * 100;
  return number_text(percents >= 10 ? "%.0f" : percents >= 1 ? "%.1f" : "%.2g", percents) + " %";
}

double failure_share(const StressRecord& stress) {
  return stress.runs == 0 ? 0 : static_cast<double>(stress.failures) / stress.runs;
}

std::string failures_text(const StressRecord& stress) {
  return std::to_string(stress.failures) + " of " + std::to_string(stress.runs) + " runs failed (" +
         percent(failure_share(stress)) + ")";
}

}  // namespace distrun::runner
