#include "published.hpp"

#include <pmix.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include <distrun/common/base/deadline.hpp>

#include "texts.hpp"

namespace distrun::pmix {
namespace {

constexpr std::size_t kLookups = 4096;  // that wait

bool is_directive(const pmix_info_t& info) {
  return PMIX_CHECK_KEY(&info, PMIX_RANGE) || PMIX_CHECK_KEY(&info, PMIX_PERSISTENCE) ||
         PMIX_CHECK_KEY(&info, PMIX_USERID) || PMIX_CHECK_KEY(&info, PMIX_GRPID) ||
         PMIX_CHECK_KEY(&info, PMIX_TIMEOUT) || PMIX_CHECK_KEY(&info, PMIX_WAIT);
}

const pmix_info_t* find(const pmix_info_t info[], std::size_t count, const char* key) {
  const auto found =
      std::find_if(info, info + count, [key](const pmix_info_t& each) { return PMIX_CHECK_KEY(&each, key); });
  return found == info + count ? nullptr : found;
}

// Returns how much memory a datum takes, as much as its message.
std::size_t bytes_of(const pmix_info_t& info) {
  pmix_data_buffer_t packed;
  PMIX_DATA_BUFFER_CONSTRUCT(&packed);
  pmix_value_t value = info.value;
  PMIx_Data_pack(nullptr, &packed, &value, 1, PMIX_VALUE);
  const std::size_t bytes = sizeof info + packed.bytes_used;
  PMIX_DATA_BUFFER_DESTRUCT(&packed);
  return bytes;
}

}  // namespace

Published::Datum::Datum(const pmix_proc_t& proc, const pmix_info_t& from, bool reads_once, base::ByteBudget& budget)
    : owner(proc), value{}, once(reads_once), bytes(budget) {
  PMIx_Value_xfer(&value, &from.value);
  bytes += bytes_of(from);
}

Published::Datum::~Datum() { PMIX_VALUE_DESTRUCT(&value); }

pmix_status_t Published::publish(const pmix_proc_t& owner, const pmix_info_t info[], std::size_t count) {
  const std::lock_guard lock(mutex_);
  const pmix_info_t* const persistence = find(info, count, PMIX_PERSISTENCE);
  const bool once = persistence != nullptr && persistence->value.data.persist == PMIX_PERSIST_FIRST_READ;
  std::size_t more = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (is_directive(info[i])) continue;
    if (data_.contains(info[i].key)) return PMIX_ERR_DUPLICATE_KEY;
    more += bytes_of(info[i]);
  }
  if (budget_.bytes() + more > budget_.most()) return PMIX_ERR_OUT_OF_RESOURCE;
  for (std::size_t i = 0; i < count; ++i) {
    if (is_directive(info[i])) continue;
    data_.emplace(std::piecewise_construct, std::forward_as_tuple(info[i].key),
                  std::forward_as_tuple(owner, info[i], once, budget_));
  }
  answer_complete();
  return PMIX_OPERATION_SUCCEEDED;
}

pmix_status_t Published::look_up(char** keys, const pmix_info_t info[], std::size_t count,
                                 pmix_lookup_cbfunc_t on_found, void* context) {
  const std::lock_guard lock(mutex_);
  Lookup lookup{texts_of(keys), on_found, context};
  const pmix_info_t* const timeout = find(info, count, PMIX_TIMEOUT);
  if (timeout != nullptr && timeout->value.type == PMIX_INT && timeout->value.data.integer > 0) {
    lookup.end = base::deadline_after(std::chrono::seconds(timeout->value.data.integer));
  }
  if (find(info, count, PMIX_WAIT) != nullptr && !has_all(lookup)) {
    if (waiting_.size() == kLookups) return PMIX_ERR_OUT_OF_RESOURCE;
    waiting_.push_back(std::move(lookup));
  } else {
    answer(lookup);
  }
  return PMIX_SUCCESS;
}

void Published::unpublish(const pmix_proc_t& owner, char** keys) {
  const std::lock_guard lock(mutex_);
  const std::vector<std::string> names = texts_of(keys);
  std::erase_if(data_, [&](const auto& each) {
    const bool is_named = keys == nullptr || std::find(names.begin(), names.end(), each.first) != names.end();
    return is_named && PMIX_CHECK_PROCID(&each.second.owner, &owner);
  });
}

void Published::end_late_lookups() {
  const std::lock_guard lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  std::list<Lookup> late;
  for (auto each = waiting_.begin(); each != waiting_.end();) {
    const auto next = std::next(each);
    if (each->end <= now) late.splice(late.end(), waiting_, each);
    each = next;
  }
  for (const Lookup& lookup : late) lookup.on_found(PMIX_ERR_TIMEOUT, nullptr, 0, lookup.context);
}

bool Published::has_all(const Lookup& lookup) const {
  return std::all_of(lookup.keys.begin(), lookup.keys.end(), [this](const auto& key) { return data_.contains(key); });
}

// The library copies the answer before the callback returns.
void Published::answer(const Lookup& lookup) {
  std::vector<pmix_pdata_t> found;
  for (const std::string& key : lookup.keys) {
    const auto datum = data_.find(key);
    if (datum == data_.end()) continue;
    pmix_pdata_t& entry = found.emplace_back();
    entry.proc = datum->second.owner;
    PMIX_LOAD_KEY(entry.key, key.c_str());
    PMIx_Value_xfer(&entry.value, &datum->second.value);
    if (datum->second.once) data_.erase(datum);
  }
  const bool has_some = !found.empty();
  lookup.on_found(has_some ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND, has_some ? found.data() : nullptr, found.size(),
                  lookup.context);
  for (pmix_pdata_t& entry : found) PMIX_VALUE_DESTRUCT(&entry.value);
}

void Published::answer_complete() {
  for (auto each = waiting_.begin(); each != waiting_.end();) {
    if (!has_all(*each)) {
      ++each;
      continue;
    }
    answer(*each);
    each = waiting_.erase(each);
  }
}

}  // namespace distrun::pmix
