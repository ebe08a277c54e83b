#pragma once
// Messages as a stream of bytes:
//
//   head      of a fixed size: how long the rest is, what it is, its number in this direction
//   table     sections of the envelope; the memory behind the tensors, and their shapes
//   payload
//   memory    of the tensors, one stretch after the other; but for those that the receiver reads out of the sender's
//             process itself (channel "cma")
//
// Tensors are not copied before they are written, and a caller may change them once its call has timed out. So a call
// that has timed out is withdrawn: if none of it was written, it arrives without its data; if a part was written, the
// rest is copied first. Memory that is read out of the caller's process after the timeout is dropped by the reader.
//
// A call or a reply for which its receiver has no memory is read to its end, and arrives without its payload and
// tensors (rpc::Message::unreadable): that one fails, and those behind it do not.
//
// Messages of one direction are counted: a number that is not the next one means that the stream is broken. What
// arrives is believed in nothing: lengths have limits, shapes are checked against their memory.
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <agents/pipe/transports/stream.hpp>
#include <distrun/runtime/rpc/message.hpp>
#include <distrun/runtime/rpc/tensor_spans.hpp>

namespace distrun::agents::pipe {

// Kinds of the pipe's own, beside those of rpc::MessageKind.
inline constexpr std::uint8_t kRelease = 100;  // the message whose number is the id was read out of this process
inline constexpr std::uint8_t kLeave = 101;    // the sender closes its agent; nothing follows

struct MessageHead {
  std::uint16_t mark = kMark;
  std::uint8_t kind = 0;
  std::uint8_t is_withdrawn = 0;  // 1: only its sections are there
  std::uint32_t table_bytes = 0;
  std::uint64_t payload_bytes = 0;
  std::uint64_t memory_bytes = 0;  // that follow
  std::uint64_t id = 0;
  std::uint64_t number = 0;

  static constexpr std::uint16_t kMark = 0x6d64;
};

struct StreamLimits {
  std::uint64_t table = 4 << 20;
  std::uint64_t payload = std::uint64_t{1} << 30;
  std::uint64_t memory = std::uint64_t{1} << 40;
};

// A message on its way out. Holds what it is made of until it is written, and longer if the peer reads memory itself.
class OutgoingMessage {
 public:
  // `cma_from`: stretches of so many bytes and more are read by the peer; 0: none are. Throws Error{InvalidArgument}
  // for tensors that can't travel, and for more than a receiver takes.
  OutgoingMessage(rpc::Message message, std::size_t cma_from);
  static OutgoingMessage own(std::uint8_t kind, std::uint64_t id, const std::string& text = "");

  void set_number(std::uint64_t number) noexcept { head_.number = number; }
  std::uint64_t number() const noexcept { return head_.number; }
  std::uint64_t id() const noexcept { return head_.id; }
  // What the stream takes; true: all is written.
  bool write_to(Stream& stream);
  bool is_begun() const noexcept { return written_ != 0; }
  bool is_call(std::uint64_t id) const noexcept;
  // The caller may change the tensors from now on. Throws std::bad_alloc: nothing has changed then.
  void withdraw();
  bool is_read_by_peer() const noexcept { return is_read_by_peer_; }
  // The bytes that it keeps in memory. Tensors count, though they are not copied.
  std::uint64_t queued_bytes() const noexcept {
    return table_.size() + payload_.size() + sizeof(MessageHead) + span_bytes_;
  }

 private:
  OutgoingMessage() = default;
  void write_table(const rpc::Message& message, const rpc::TensorSpans& tensors);
  void write_spans(wire::ByteWriter& table, const rpc::TensorSpans& tensors);
  void drop_data();
  void copy_data();
  void check_limits() const;
  bool is_in_stream(const rpc::Span& span) const noexcept { return cma_from_ == 0 || span.bytes() < cma_from_; }

  MessageHead head_;
  wire::Bytes table_;
  wire::Bytes payload_;
  rpc::TensorSpans::Spans spans_;
  std::size_t cma_from_ = 0;
  std::uint64_t span_bytes_ = 0;  // of spans_
  std::size_t sections_end_ = 0;  // in table_
  std::uint64_t written_ = 0;
  bool is_read_by_peer_ = false;
};

// Reads memory of the peer: address there, where to, how many bytes.
using ReadPeer = std::function<void(std::uint64_t address, std::byte* to, std::size_t bytes)>;

// Messages as they come in, however many pieces of the stream each is.
class IncomingMessages {
 public:
  struct Arrived {
    std::uint8_t kind = 0;  // of rpc::MessageKind, or of the pipe's own
    rpc::Message message;
    std::uint64_t number = 0;
    bool was_read_from_peer = false;  // who is to be told by kRelease
  };

  explicit IncomingMessages(ReadPeer read_peer = {}, StreamLimits limits = {})
      : read_peer_(std::move(read_peer)), limits_(limits) {}

  // The next whole message; nothing: the rest of it is not there yet. Throws Error{InvalidArgument} for what no pipe
  // has written: nothing more can be read then; and what the stream throws.
  std::optional<Arrived> next(Stream& stream);

 private:
  enum class Stage : std::uint8_t { Head, Table, Payload, Memory, Skip };
  // A stretch of memory: where it comes from, how many tensors look into it.
  struct Place {
    std::uint64_t bytes = 0;
    std::uint64_t address = 0;  // in the peer
    bool is_in_peer = false;
    std::uint32_t users = 0;
    std::byte* to = nullptr;
  };
  struct Filled {
    std::byte* to = nullptr;
    std::size_t bytes = 0;
  };

  void check_head() const;
  void begin();
  bool read_whole(Stream& stream);
  bool read_head(Stream& stream);
  bool read_table(Stream& stream);
  bool read_payload(Stream& stream);
  bool read_memory(Stream& stream);
  bool skip(Stream& stream);
  // Runs `take`. If it finds no memory, the rest of the message, which is so long, is skipped.
  template <class Take>
  void take_or_skip(std::uint64_t rest, Take take);
  void give_up(const std::string& why, std::uint64_t rest);
  std::string no_memory() const;
  void parse_table(wire::BytesView table);
  void parse_tensors(wire::ByteReader& table);
  void parse_shape(wire::ByteReader& table);
  void make_tensors();
  Arrived finish();

  const ReadPeer read_peer_;
  const StreamLimits limits_;
  Stage stage_ = Stage::Head;
  MessageHead head_;
  std::uint64_t next_number_ = 0;
  wire::Bytes table_;  // what is there of it, while it comes in pieces
  rpc::Message message_;
  std::vector<Place> places_;
  std::vector<tensor::Ref<tensor::Storage>> spans_;  // by place; of those that a tensor does not have for itself
  std::vector<Filled> to_fill_;
  std::vector<rpc::TensorShape> shapes_;
  std::optional<base::TimePoint> kept_until_;
  std::size_t filled_ = 0;  // bytes of the first of to_fill_ that is not full
  std::size_t next_fill_ = 0;
  bool was_read_from_peer_ = false;
  std::uint64_t skip_ = 0;  // bytes of the message that are still to come, in Stage::Skip
};

}  // namespace distrun::agents::pipe
