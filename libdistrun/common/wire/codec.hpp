#pragma once
// The codec of all messages. A message is a struct with one function that names its fields:
//
//   struct Skip { std::int32_t code = 0; std::string reason; };
//   void fields(auto& archive, auto& m) requires IsMessage<Skip, ...>   // see DISTRUN_FIELDS
//
// This one function both writes and reads it. Supported: numbers, bool, enums, strings, vectors, optional, and other
// messages. Limits: the size of the enclosing frame, and 64 levels of nesting, which the types themselves bound.
#include <optional>
#include <type_traits>
#include <vector>

#include <distrun/common/base/error.hpp>
#include <distrun/common/wire/buffer.hpp>

// Names the fields of a message, in wire order: DISTRUN_FIELDS(Skip, m.code, m.reason)
#define DISTRUN_FIELDS(Type, ...)                \
  template <class Archive>                       \
  void fields(Archive& archive, const Type& m) { \
    archive(__VA_ARGS__);                        \
  }                                              \
  template <class Archive>                       \
  void fields(Archive& archive, Type& m) {       \
    archive(__VA_ARGS__);                        \
  }

namespace distrun::wire {

// Writes the fields of messages: the archive of DISTRUN_FIELDS.
class Encoder {
 public:
  // Appends the fields in order. Throws Error{Overloaded} for a string of more than 4 GiB.
  template <class... Fields>
  void operator()(const Fields&... values) {
    (put(values), ...);
  }

  // Returns the bytes and leaves the encoder empty.
  Bytes take() { return writer_.take(); }

 private:
  template <class T>
  void put(const T& value) {
    if constexpr (std::is_enum_v<T>) {
      writer_.number(static_cast<std::underlying_type_t<T>>(value));
    } else if constexpr (std::is_same_v<T, bool>) {
      writer_.number(static_cast<std::uint8_t>(value));
    } else if constexpr (std::is_arithmetic_v<T>) {
      writer_.number(value);
    } else {
      fields(*this, value);
    }
  }
  void put(const std::string& value) { writer_.string(value); }
  template <class T>
  void put(const std::vector<T>& values) {
    writer_.number(static_cast<std::uint32_t>(values.size()));
    for (const T& value : values) put(value);
  }
  template <class T>
  void put(const std::optional<T>& value) {
    put(value.has_value());
    if (value) put(*value);
  }

  ByteWriter writer_;
};

// Reads the fields of messages from borrowed bytes.
class Decoder {
 public:
  // `bytes` must outlive the decoder.
  explicit Decoder(BytesView bytes) noexcept : reader_(bytes) {}

  // Reads the fields in order. Throws Error{InvalidArgument} if the bytes end early or a length exceeds them.
  template <class... Fields>
  void operator()(Fields&... values) {
    (get(values), ...);
  }

  // Throws Error{InvalidArgument} if bytes are left over.
  void expect_end() const { reader_.expect_end(); }

 private:
  template <class T>
  void get(T& value) {
    if constexpr (std::is_enum_v<T>) {
      value = static_cast<T>(reader_.number<std::underlying_type_t<T>>());
    } else if constexpr (std::is_same_v<T, bool>) {
      value = reader_.number<std::uint8_t>() != 0;
    } else if constexpr (std::is_arithmetic_v<T>) {
      value = reader_.number<T>();
    } else {
      fields(*this, value);
    }
  }
  void get(std::string& value) { value = reader_.string(); }
  template <class T>
  void get(std::vector<T>& values) {
    // Every element takes at least a byte, so a hostile length cannot allocate more than was sent.
    const std::uint32_t count = reader_.count(1);
    values.clear();
    for (std::uint32_t i = 0; i < count; ++i) {
      values.emplace_back();
      get(values.back());
    }
  }
  template <class T>
  void get(std::optional<T>& value) {
    bool there = false;
    get(there);
    value.reset();
    if (there) get(value.emplace());
  }

  ByteReader reader_;
};

// Returns the bytes of a message; decode() reads them back.
template <class T>
Bytes encode(const T& message) {
  Encoder encoder;
  encoder(message);
  return encoder.take();
}

// Throws Error{InvalidArgument} if the bytes are not exactly one T. Does not check enumerators: their users must.
template <class T>
T decode(BytesView bytes) {
  Decoder decoder(bytes);
  T message;
  decoder(message);
  decoder.expect_end();
  return message;
}

}  // namespace distrun::wire
