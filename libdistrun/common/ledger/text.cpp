#include <distrun/common/ledger/text.hpp>

#include <algorithm>
#include <map>

#include <distrun/common/base/duration.hpp>
#include <distrun/common/base/text.hpp>

namespace distrun::ledger {
namespace {

constexpr std::size_t kNameMax = 80;

std::string time_of(std::int64_t ms) { return base::human(std::chrono::milliseconds(std::max<std::int64_t>(ms, 0))); }
std::string clean(const std::string& text) { return base::one_line(text, kNameMax); }

// Names of workers, as far as pages contain them.
class Names {
 public:
  explicit Names(const std::vector<Page>& pages) {
    for (const Page& page : pages) names_[page.worker] = clean(page.name);
  }
  std::string of(std::int32_t worker) const {
    const auto known = names_.find(worker);
    return known != names_.end() ? known->second : "worker " + std::to_string(worker);
  }
  // Returns "worker1 (fork 1.4), worker2 (fork 0.7)".
  std::string of(const std::vector<Holder>& holders) const {
    std::string text;
    for (const Holder& each : holders) {
      text += (text.empty() ? "" : ", ") + of(each.worker) + " (fork " + to_string(each.fork) + ")";
    }
    return text;
  }

 private:
  std::map<std::int32_t, std::string> names_;
};

std::string ids_of(const std::vector<Id>& ids) {
  std::string text;
  for (const Id& each : ids) text += (text.empty() ? "" : ", ") + to_string(each);
  return text;
}

std::string line_of(const OwnedRow& row, const Names& names, std::int64_t old_ms) {
  std::string text =
      "    owns " + to_string(row.rref) + " (" + clean(row.type) + ") for " + time_of(row.age_ms + old_ms);
  text += row.holders.empty() ? ", not held by other workers" : ", held by " + names.of(row.holders);
  if (!row.site.empty()) text += ", created at " + clean(row.site);
  if (!row.holds.empty()) text += ", holds " + ids_of(row.holds);
  return text + "\n";
}

std::string line_of(const HeldRow& row, const Names& names, std::int64_t old_ms) {
  std::string text = "    holds " + to_string(row.fork) + " of " + to_string(row.rref) + " at " + names.of(row.owner) +
                     " for " + time_of(row.age_ms + old_ms) + ", " + clean(row.state);
  if (!row.site.empty()) text += ", " + clean(row.site);
  if (!row.children.empty()) text += ", in flight to " + names.of(row.children);
  return text + "\n";
}

std::string page_of(const Page& page, const Names& names, std::int64_t now_ns) {
  const std::int64_t old_ms = (now_ns - page.written_at_ns) / 1'000'000;
  std::string text = "  references of " + clean(page.name) + ", " + time_of(old_ms) + " ago: it owns " +
                     std::to_string(page.owned) + ", and holds " + std::to_string(page.held) + "\n";
  for (const OwnedRow& each : page.owned_rows) text += line_of(each, names, old_ms);
  for (const HeldRow& each : page.held_rows) text += line_of(each, names, old_ms);
  const std::uint64_t all = page.owned + page.held;
  const std::uint64_t shown = page.owned_rows.size() + page.held_rows.size();
  if (all > shown) text += "    and " + std::to_string(all - shown) + " more\n";
  return text;
}

std::string cycle_of(const std::vector<Id>& cycle, const std::vector<Page>& pages) {
  const auto place_of = [&](const Id& id) {
    for (const Page& page : pages) {
      for (const OwnedRow& row : page.owned_rows) {
        if (row.rref != id) continue;
        return to_string(id) + " (" + clean(row.type) + " at " + clean(page.name) + ", created at " + clean(row.site) +
               ")";
      }
    }
    return to_string(id);
  };
  std::string text = "  a cycle, which is kept until the session ends: ";
  for (const Id& each : cycle) text += place_of(each) + " -> ";
  return text + to_string(cycle.front()) + "\n";
}

}  // namespace

std::string text_of(const std::vector<Page>& pages, std::int64_t now_ns) {
  const Names names(pages);
  std::string text;
  for (const Page& each : pages) text += page_of(each, names, now_ns);
  return text + cycles_text(pages);
}

std::string cycles_text(const std::vector<Page>& pages) {
  std::string text;
  for (const auto& each : cycles_of(pages)) text += cycle_of(each, pages);
  return text;
}

}  // namespace distrun::ledger
