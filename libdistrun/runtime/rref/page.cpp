// The page of References for other processes.
#include <algorithm>
#include <set>

#include <distrun/common/base/clock.hpp>
#include <distrun/common/base/error.hpp>
#include <distrun/runtime/rref/methods.hpp>
#include <distrun/runtime/rref/references.hpp>

namespace distrun::rref {
namespace {

constexpr std::size_t kHolders = 16;  // holders shown per value
constexpr std::size_t kHolds = 16;

template <class Tag>
ledger::Id brief(const GlobalId<Tag>& id) {
  return {id.created_on, id.local_id};
}

std::int64_t age_of(base::TimePoint since) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(base::system_clock().now() - since).count();
}

const char* state_of(const Handle& handle) {
  if (handle.is_confirmed()) return "confirmed";
  switch (handle.state()) {
    case Handle::State::Pending: return "pending";
    case Handle::State::Confirmed: return "confirmed";
    case Handle::State::TimedOut: return "timed out";
    case Handle::State::Failed: return "failed";
    case Handle::State::Deleted: return "deleted";
  }
  return "";
}

std::string type_of(const OwnedValue& value) {
  if (!value.future.done()) return "pending";
  return value.future.state()->error() != nullptr ? "failed" : type_name_of(value.future.value());
}

// Returns the forks, and the values of this worker, that a value contains.
std::vector<ledger::Id> held_by(const OwnedValue& value) {
  std::vector<ledger::Id> ids;
  if (!value.future.done() || value.future.state()->error() != nullptr) return ids;
  rpc::visit_references(value.future.value(), [&](const rpc::ReferencePtr& each) {
    const auto* const handle = dynamic_cast<const Handle*>(each.get());
    if (handle == nullptr || ids.size() == kHolds) return;
    ids.push_back(handle->is_owner() ? brief(handle->rref()) : brief(handle->fork()));
  });
  return ids;
}

}  // namespace

// Objects are asked for their references without the lock.
ledger::Page References::page(std::size_t most) const {
  ledger::Page page;
  page.worker = self_.id();
  page.name = self_.name();
  page.written_at_ns = base::system_clock().now().time_since_epoch().count();
  std::vector<std::shared_ptr<OwnedValue>> shown;
  {
    const std::lock_guard lock(mutex_);
    page.owned = values_.size();
    page.held = users_.size();
    for (const auto& [r, value] : values_) {
      if (shown.size() == most) break;
      shown.push_back(value);
      ledger::OwnedRow row{brief(r), "", value->site, age_of(value->since), {}, {}};
      for (const auto& [fork, holder] : protocol_.holders_of(r)) {
        if (row.holders.size() < kHolders) row.holders.push_back({brief(fork), holder});
      }
      page.owned_rows.push_back(std::move(row));
    }
    const auto children = protocol_.children();
    const auto parents = protocol_.parents_of_children();
    for (const auto& [fork, handle] : users_) {
      if (page.held_rows.size() == most) break;
      ledger::HeldRow row{brief(fork),
                          brief(handle->rref_),
                          handle->owner_.id(),
                          state_of(*handle),
                          handle->site_,
                          age_of(handle->since_),
                          {}};
      for (auto [child, end] = parents.equal_range(fork); child != end; ++child) {
        row.children.push_back({brief(child->second), children.at(child->second)});
      }
      page.held_rows.push_back(std::move(row));
    }
  }
  for (std::size_t i = 0; i < shown.size(); ++i) {
    page.owned_rows[i].type = type_of(*shown[i]);
    page.owned_rows[i].holds = held_by(*shown[i]);
  }
  std::sort(page.owned_rows.begin(), page.owned_rows.end(),
            [](const auto& a, const auto& b) { return a.rref < b.rref; });
  std::sort(page.held_rows.begin(), page.held_rows.end(), [](const auto& a, const auto& b) { return a.fork < b.fork; });
  return page;
}

}  // namespace distrun::rref
