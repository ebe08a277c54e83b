#include <distrun/runtime/collectives/shm/mail_boxes.hpp>

#include <limits>

namespace distrun::collectives::shm {
namespace {

// Returns why the message is invalid; empty if it may be used.
std::string why_not(const MessageHeader& head, bool is_mirrored) {
  const auto is_above = [](auto value, auto most) { return static_cast<std::uint64_t>(value) > most; };
  if (is_above(head.dtype, std::uint64_t{tensor::kDTypeCount - 1})) {
    return "a message with the unknown dtype " + std::to_string(static_cast<int>(head.dtype));
  }
  if (is_above(head.carriage, static_cast<std::uint64_t>(is_mirrored ? Carriage::Sent : Carriage::Shared))) {
    return "a message with the unknown transfer kind " + std::to_string(static_cast<std::uint32_t>(head.carriage));
  }
#ifndef DISTRUN_FUZZ_PLANTED_BUG
  const std::uint64_t most =
      head.carriage == Carriage::Inside ? kLetterRoom : std::uint64_t{std::numeric_limits<std::int64_t>::max()};
  if (head.size > most) {
    return "a message of " + std::to_string(head.size) + " bytes, where at most " + std::to_string(most) + " can be";
  }
#endif
  if (!carries_bytes(head) && head.read_index >= kReads) {
    return "a message with direct read " + std::to_string(head.read_index) + " of " + std::to_string(kReads);
  }
  return "";
}

std::string no_count(const char* of, std::uint64_t shown, std::uint64_t known) {
  return std::to_string(shown) + " messages that are " + of + ", but this rank counts " + std::to_string(known) +
         " and " + std::to_string(kMessages) + " fit between";
}

}  // namespace

MailBoxes::MailBoxes(std::shared_ptr<Area> area, const GroupInfo& group)
    : area_(std::move(area)), rank_(group.rank), sides_(group.ranks.size()) {}

MessageSlot* MailBoxes::room(int to) {
  MailBox& box = area_->mail_box(rank_, to);
  const std::uint64_t written = side(to).written, taken = box.taken.load();
  if (is_refused(to)) return nullptr;
  if (taken > written || written - taken > kMessages) {
    refuse(to, "it shows " + no_count("taken", taken, written));
    return nullptr;
  }
  return written - taken < kMessages ? &box.messages[written % kMessages] : nullptr;
}

// What is outside of the slot must be there before the receiver sees the message, which may be this rank.
void MailBoxes::send(int to, ConstBytes outside) {
  const std::uint64_t written = ++side(to).written;
  area_->show_message(to, written, outside);
  area_->mail_box(rank_, to).written.store(written);
}

std::optional<MessageHeader> MailBoxes::look(int from) {
  const MailBox& box = area_->mail_box(from, rank_);
  const std::uint64_t taken = side(from).taken, written = box.written.load();
  if (written == taken || is_refused(from)) return std::nullopt;
  if (written < taken || written - taken > kMessages) {
    refuse(from, "it shows " + no_count("written", written, taken));
    return std::nullopt;
  }
  const MessageHeader head = copied(box.messages[taken % kMessages].head);
  if (std::string how = why_not(head, area_->is_mirrored()); !how.empty()) {
    refuse(from, "it shows " + how);
    return std::nullopt;
  }
  return head;
}

Arrived MailBoxes::take(int from, const MessageHeader& head) {
  Arrived message{from, head, {}};
  const auto& inside = area_->mail_box(from, rank_).messages[side(from).taken % kMessages].inside;
  if (head.carriage == Carriage::Inside) {
    message.inside.assign(inside.begin(), inside.begin() + static_cast<std::ptrdiff_t>(head.size));
  }
  ++side(from).taken;
  if (head.carriage == Carriage::Sent) message.inside = area_->take_outside(from, side(from).taken);
  return message;
}

void MailBoxes::show_taken(int from) {
  area_->mail_box(from, rank_).taken.store(side(from).taken);
  area_->show_taken(from, side(from).taken);
}

}  // namespace distrun::collectives::shm
