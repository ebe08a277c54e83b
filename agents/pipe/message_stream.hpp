#pragma once
// Messages as a stream of bytes:
//
//   head      of a fixed size: length of the rest, kind, number in this direction
//   table     sections of the envelope; the memory behind the tensors, and their shapes
//   payload
//   memory    of the tensors, one stretch after the other, except those that the receiver reads directly out of the
//             sender's process (channel "cma")
//
// Tensors are not copied before they are written, and a caller may change them once its call has timed out. So a call
// that has timed out is withdrawn: if none of it was written, it arrives without its data; if a part was written, the
// rest is copied first. Without memory for that copy the connection ends. A reader drops memory that it has read out of
// the caller's process after the timeout.
//
// A call or reply for which the receiver has no memory is read to its end, and arrives without payload and tensors
// (rpc::Message::unreadable): it fails alone, and later messages arrive.
//
// Messages of one direction are numbered: a wrong number means that the stream is broken. Input is not trusted: lengths
// have limits, shapes are checked against their memory.
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <agents/pipe/transports/stream.hpp>
#include <distrun/runtime/rpc/message.hpp>
#include <distrun/runtime/rpc/tensor_spans.hpp>

namespace distrun::agents::pipe {

// Kinds of the pipe, in addition to those of rpc::MessageKind.
inline constexpr std::uint8_t kRelease = 100;  // the peer has read message number `id` out of this process
inline constexpr std::uint8_t kLeave = 101;    // the sender closes its agent; nothing follows

struct MessageHead {
  std::uint16_t mark = kMark;
  std::uint8_t kind = 0;
  std::uint8_t is_withdrawn = 0;  // 1: only its sections are present
  std::uint32_t table_bytes = 0;
  std::uint64_t payload_bytes = 0;
  std::uint64_t memory_bytes = 0;  // that follow in the stream
  std::uint64_t id = 0;
  std::uint64_t number = 0;

  static constexpr std::uint16_t kMark = 0x6d64;
};

struct StreamLimits {
  std::uint64_t table = 4 << 20;
  std::uint64_t payload = std::uint64_t{1} << 30;
  std::uint64_t memory = std::uint64_t{1} << 40;
};

// A message to be written. Owns its data until it is written, or until the peer has read it directly.
class OutgoingMessage {
 public:
  OutgoingMessage() = default;  // none yet
  // The peer reads stretches of at least `cma_from` bytes directly; 0: none. Throws Error{InvalidArgument} for tensors
  // that can't be sent, and for more than a receiver accepts.
  OutgoingMessage(rpc::Message message, std::size_t cma_from);
  static OutgoingMessage own(std::uint8_t kind, std::uint64_t id, const std::string& text = "");

  void set_number(std::uint64_t number) noexcept { head_.number = number; }
  std::uint64_t number() const noexcept { return head_.number; }
  std::uint64_t id() const noexcept { return head_.id; }
  // Writes as much as the stream takes. Returns whether all is written.
  bool write_to(Stream& stream);
  bool is_begun() const noexcept { return written_ != 0; }
  bool is_call(std::uint64_t id) const noexcept;
  // After it returns true, the caller may change the tensors. Returns false, and changes nothing, if a part was written
  // and there is no memory to copy the rest: then it must not be written any further.
  [[nodiscard]] bool withdraw() noexcept;
  bool is_read_by_peer() const noexcept { return is_read_by_peer_; }
  // Returns the bytes that it keeps in memory. Counts tensors, although they are not copied.
  std::uint64_t queued_bytes() const noexcept {
    return table_.size() + payload_.size() + sizeof(MessageHead) + span_bytes_;
  }

 private:
  void write_table(const rpc::Message& message, const rpc::TensorSpans& tensors);
  void write_spans(wire::ByteWriter& table, const rpc::TensorSpans& tensors);
  void drop_data() noexcept;
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

// Reads memory of the peer: address there, destination, number of bytes.
using ReadPeer = std::function<void(std::uint64_t address, std::byte* to, std::size_t bytes)>;

// Decodes arriving messages, which may come in any number of pieces.
class IncomingMessages {
 public:
  struct Arrived {
    std::uint8_t kind = 0;  // of rpc::MessageKind, or of the pipe
    rpc::Message message;
    std::uint64_t number = 0;
    bool was_read_from_peer = false;  // the peer then gets a kRelease
  };

  explicit IncomingMessages(ReadPeer read_peer = {}, StreamLimits limits = {})
      : read_peer_(std::move(read_peer)), limits_(limits) {}

  // Returns the next whole message; nullopt if it has not arrived completely. Throws Error{InvalidArgument} for a
  // malformed stream, after which nothing more can be read; and what the stream throws.
  std::optional<Arrived> next(Stream& stream);

 private:
  enum class Stage : std::uint8_t { Head, Table, Payload, Memory, Skip };
  // A stretch of memory: its source, and how many tensors refer to it.
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
  // Runs `take`. If it finds no memory, skips the rest of the message, `rest` bytes.
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
  wire::Bytes table_;  // its bytes so far, while it arrives in pieces
  rpc::Message message_;
  std::vector<Place> places_;
  std::vector<tensor::Ref<tensor::Storage>> spans_;  // by place; null for those that a tensor owns alone
  std::vector<Filled> to_fill_;
  std::vector<rpc::TensorShape> shapes_;
  std::optional<base::TimePoint> kept_until_;
  std::size_t filled_ = 0;  // bytes read into the first part of to_fill_ that is not full
  std::size_t next_fill_ = 0;
  bool was_read_from_peer_ = false;
  std::uint64_t skip_ = 0;  // bytes of the message still to be skipped, in Stage::Skip
};

}  // namespace distrun::agents::pipe
