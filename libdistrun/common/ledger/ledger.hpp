#pragma once
// The references of a rank to values on other workers, readable from outside: a page in a memfd of the rank, found by
// its name among the descriptors of its process. The rank rewrites it from time to time; it can be read while the rank
// hangs or is stopped.
//
// It is another process's memory: do not trust its contents.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <distrun/common/base/fd.hpp>
#include <distrun/common/wire/codec.hpp>

namespace distrun::ledger {

struct Id {
  std::int32_t created_on = -1;
  std::int64_t local_id = -1;
  friend auto operator<=>(const Id&, const Id&) = default;
};
DISTRUN_FIELDS(Id, m.created_on, m.local_id)
std::string to_string(const Id& id);  // "0.3"

// A fork of a reference, at a worker.
struct Holder {
  Id fork;
  std::int32_t worker = -1;
};
DISTRUN_FIELDS(Holder, m.fork, m.worker)

// A value that others hold.
struct OwnedRow {
  Id rref;
  std::string type;  // of the value; "pending", "failed", "not made yet"
  std::string site;  // where it was requested
  std::int64_t age_ms = 0;
  std::vector<Holder> holders;
  std::vector<Id> holds;  // forks that this worker holds inside the value
};
DISTRUN_FIELDS(OwnedRow, m.rref, m.type, m.site, m.age_ms, m.holders, m.holds)

// A fork that this worker holds.
struct HeldRow {
  Id fork;
  Id rref;
  std::int32_t owner = -1;
  std::string state;  // "pending", "confirmed", "timed out", "failed"
  std::string site;   // where it was requested, or which worker shared it
  std::int64_t age_ms = 0;
  std::vector<Holder> children;  // forks of it in flight
};
DISTRUN_FIELDS(HeldRow, m.fork, m.rref, m.owner, m.state, m.site, m.age_ms, m.children)

struct Page {
  std::int32_t worker = -1;
  std::string name;
  std::int64_t written_at_ns = 0;  // of the monotonic clock
  std::uint64_t owned = 0;         // in total; the rows show some of them
  std::uint64_t held = 0;
  std::vector<OwnedRow> owned_rows;
  std::vector<HeldRow> held_rows;
};
DISTRUN_FIELDS(Page, m.worker, m.name, m.written_at_ns, m.owned, m.held, m.owned_rows, m.held_rows)

// The rank's side. One thread at a time.
class Writer {
 public:
  // Throws Error{Failed}.
  Writer();
  // If there is no memory, the previous page stays.
  void write(const Page& page) noexcept;

 private:
  base::Fd memfd_;
  std::uint64_t sequence_ = 0;
};

// Returns the pages of a process, one for each of its ranks that has references. Skips pages that cannot be read.
std::vector<Page> read_pages(int pid);

// Returns the cycles of values that hold each other, each as the references along it, starting with the smallest.
std::vector<std::vector<Id>> cycles_of(const std::vector<Page>& pages);

}  // namespace distrun::ledger
