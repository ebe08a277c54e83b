#include <distrun/runner/report/text/failure_text.hpp>

#include <algorithm>
#include <set>

#include <distrun/common/base/rank_list.hpp>
#include <distrun/common/base/text.hpp>
#include <distrun/runner/record/describe.hpp>
#include <distrun/runner/report/text/attempt_text.hpp>
#include <distrun/runner/report/text/output_text.hpp>
#include <distrun/runner/report/text/repeat_command.hpp>

namespace distrun::report {
namespace {

using runner::AttemptRecord;

// Returns " on node02", " on 4 hosts"; empty: all ranks ran on this machine.
std::string on_hosts(const AttemptRecord& attempt) {
  std::set<std::string> hosts;
  for (const runner::RankRecord& rank : attempt.ranks) hosts.insert(rank.host);
  if (hosts_of(attempt).empty()) return "";
  return hosts.size() == 1 ? " on " + base::one_line(*hosts.begin()) : " on " + std::to_string(hosts.size()) + " hosts";
}

// "ring.so, 4 ranks, shm, pipe, attempt 2 of 3 (retry), in the test body after 12.4 ms"
std::string circumstances(const runner::TestRecord& test, const AttemptRecord* attempt) {
  std::string text = base::one_line(test.plugin, 300);
  if (test.variant.world_size > 0) {
    text += ", world size " + std::to_string(test.variant.world_size);
    if (attempt != nullptr) text += on_hosts(*attempt);
  }
  if (!test.variant.backend.empty()) text += ", " + base::one_line(test.variant.backend);
  if (!test.variant.agent.empty()) text += ", " + base::one_line(test.variant.agent);
  if (attempt == nullptr) return text;
  const bool is_stress = test.stress.has_value();
  if (test.attempts.size() > 1 || is_stress) {
    const std::string all = std::to_string(is_stress ? test.stress->runs : static_cast<int>(test.attempts.size()));
    text += ", attempt " + std::to_string(attempt->n) + " of " + all;
    if (attempt->kind != runner::AttemptKind::First && !is_stress) {
      text += std::string(" (") + name_of(attempt->kind) + ")";
    }
  }
  return text + ", " + runner::in_phase(attempt->phase) + " after " + base::human(attempt->duration);
}

void add_other_attempts(std::string& out, const runner::TestRecord& test, const AttemptRecord* told) {
  constexpr std::size_t kMax = 10;
  std::size_t count = 0;
  for (const AttemptRecord& attempt : test.attempts) {
    if (&attempt == told || ++count > kMax) continue;
    out += count == 1 ? "\n" : "";
    out += "  attempt " + std::to_string(attempt.n) + " (" + name_of(attempt.kind) + "): " + name_of(attempt.verdict);
    if (!attempt.message.empty()) out += " - " + base::one_line(attempt.message);
    out += '\n';
  }
  if (count > kMax) out += "  and " + std::to_string(count - kMax) + " more attempts\n";
}

}  // namespace

const AttemptRecord* telling_attempt(const runner::TestRecord& test) {
  const auto at = std::find_if(test.attempts.begin(), test.attempts.end(),
                               [](const AttemptRecord& each) { return !is_good(each.verdict); });
  if (at != test.attempts.end()) return &*at;
  return test.attempts.empty() ? nullptr : &test.attempts.front();
}

std::string failure_text(const runner::Settings& settings, const runner::TestRecord& test, const Paint& paint,
                         bool with_output) {
  const AttemptRecord* attempt = telling_attempt(test);
  std::string out = paint(style_of(test.verdict), name_of(test.verdict)) + ": " +
                    paint(Style::Bold, base::one_line(test.info.id(), 2000)) + "\n" +
                    paint(Style::Dim, "  " + circumstances(test, attempt)) + "\n";
  if (attempt == nullptr) {
    out += "  " + paint(Style::Bold, base::one_line(test.message, 2000)) + "\n";
  } else {
    out += indented(message_and_text(*attempt, test.message, paint), "  ");
    if (with_output) out += output_of_culprits(*attempt, paint);
  }
  add_other_attempts(out, test, attempt);
  return out + "\n  " + paint(Style::Dim, "again:") + " " + repeat_command(settings, test) + "\n";
}

}  // namespace distrun::report
