#include <distrun/runtime/rpc/session/detail/member_log.hpp>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include <distrun/common/base/error.hpp>

namespace distrun::rpc {
namespace {

constexpr char kLog[] = "log";
constexpr std::size_t kCompactFrom = std::size_t{64} << 10;  // bytes of the log

struct Entry {
  bool joins = false;
  Member member;
};
DISTRUN_FIELDS(Entry, m.joins, m.member)

// Returns the entry as it is in the log: its length, then its bytes.
std::string to_text(const Entry& entry) {
  const wire::Bytes bytes = wire::encode(entry);
  wire::ByteWriter writer;
  writer.string({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  return {reinterpret_cast<const char*>(writer.bytes().data()), writer.bytes().size()};
}

std::vector<Member> present_in(const std::string& log) {
  wire::ByteReader reader(wire::view_of(log.data(), log.size()));
  std::vector<Member> present;
  while (reader.remaining() > 0) {
    const std::string text = reader.string();
    auto [joins, member] = wire::decode<Entry>(wire::view_of(text.data(), text.size()));
    if (joins) {
      present.push_back(std::move(member));
    } else {
      std::erase_if(present, [&, &left = member](const Member& each) { return is_same_member(each, left); });
    }
  }
  return present;
}

// Returns the part of a member that identifies it.
Member named(const Member& member) {
  Member name;
  name.name = member.name;
  name.id = member.id;
  name.incarnation = member.incarnation;
  return name;
}

}  // namespace

MemberLog::Turn MemberLog::next_turn(Store& store, WorkerId id) {
  const std::int64_t order = store.add("joined", 1);
  const std::int64_t number = store.add("joined/" + std::to_string(id), 1);
  if (number > 0 && number <= std::numeric_limits<Incarnation>::max()) return {static_cast<Incarnation>(number), order};
  throw Error(ErrorKind::Overloaded, "too many workers have joined the RPC group with the id " + std::to_string(id) +
                                         ": the next would be number " + std::to_string(number));
}

void MemberLog::add(const Member& member) { store_->append(kLog, to_text(Entry{true, member})); }

void MemberLog::remove(const Member& member) {
  if (contains(member)) store_->append(kLog, to_text(Entry{false, named(member)}));
}

std::vector<Member> MemberLog::members() {
  const std::string log = store_->get(kLog);
  std::vector<Member> present = present_in(log);
  if (log.size() >= kCompactFrom) compact(log, present);
  return present;
}

bool MemberLog::contains(const Member& member) {
  const std::vector<Member> present = members();
  return std::any_of(present.begin(), present.end(), [&](const Member& each) { return is_same_member(each, member); });
}

// If another worker has appended meanwhile, the log stays as it is until the next read.
void MemberLog::compact(const std::string& log, const std::vector<Member>& present) {
  std::string compacted;
  for (const Member& each : present) compacted += to_text(Entry{true, each});
  if (2 * compacted.size() < log.size()) store_->compare_set(kLog, log, compacted);
}

}  // namespace distrun::rpc
