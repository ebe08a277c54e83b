#pragma once
// An interpreter's state in hand-made memory, as the layout of a version says: one interpreter with threads and frames.
#include <string>
#include <string_view>
#include <vector>

#include "fake_memory.hpp"
#include "python/threads.hpp"

namespace distrun::testing {

class FakeInterpreter {
 public:
  using Address = probe::python::Address;
  using Layout = probe::python::Layout;

  explicit FakeInterpreter(int minor) : layout_(*probe::python::find_layout({3, minor})) {
    runtime_ = memory.add(16'384);
    code_type_ = memory.add(8);
    interpreter_ = memory.add(16'384);
    memory.set(at(runtime_, layout_.runtime_interpreters), interpreter_);
  }

  const Layout& layout() const { return layout_; }
  probe::python::Runtime runtime() const { return {&layout_, runtime_, code_type_}; }
  Address interpreter() const { return interpreter_; }

  Address add_ascii(std::string_view text) {
    const Address object = memory.add(static_cast<std::size_t>(layout_.text_ascii) + text.size() + 1);
    memory.set(object + 16, static_cast<std::int64_t>(text.size()));
    memory.set(object + 32, std::uint32_t{(1U << 2U) | (1U << 5U) | (1U << 6U)});
    memory.set_bytes(at(object, layout_.text_ascii), text.data(), text.size());
    return object;
  }
  template <class Char>
  Address add_wide(const std::basic_string<Char>& text) {
    const Address object =
        memory.add(static_cast<std::size_t>(layout_.text_compact) + (text.size() + 1) * sizeof(Char));
    memory.set(object + 16, static_cast<std::int64_t>(text.size()));
    memory.set(object + 32, static_cast<std::uint32_t>((sizeof(Char) << 2U) | (1U << 5U)));
    memory.set_bytes(at(object, layout_.text_compact), text.data(), text.size() * sizeof(Char));
    return object;
  }
  Address add_bytes(std::string_view bytes) {
    const Address object = memory.add(32 + bytes.size() + 1);
    memory.set(object + 16, static_cast<std::int64_t>(bytes.size()));
    memory.set_bytes(object + 32, bytes.data(), bytes.size());
    return object;
  }
  Address add_code(Address name, Address file, std::string_view table, std::int32_t first_line) {
    const Address code = memory.add(256);
    memory.set(code + 8, code_type_);
    memory.set(at(code, layout_.code_name), name);
    memory.set(at(code, layout_.code_file), file);
    memory.set(at(code, layout_.code_table), add_bytes(table));
    memory.set(at(code, layout_.code_line), first_line);
    return code;
  }
  // Instructions are counted from the code's first one, in bytes. `mark`: whether it is an entry (3.11), or the owner.
  Address add_frame(Address code, std::int64_t instruction, Address previous, std::uint8_t mark = 1) {
    const Address frame = memory.add(128);
    memory.set(at(frame, layout_.frame_code), code);
    memory.set(at(frame, layout_.frame_previous), previous);
    if (layout_.code_bytecode >= 0) {
      memory.set(at(frame, layout_.frame_instruction),
                 at(code, layout_.code_bytecode) + static_cast<Address>(instruction));
    } else {
      const std::int64_t unit = layout_.line_format == probe::python::LineFormat::Ranges ? 2 : 1;
      memory.set(at(frame, layout_.frame_instruction), static_cast<std::int32_t>(instruction / unit));
    }
    if (layout_.frame_kind_at >= 0) memory.set(at(frame, layout_.frame_kind_at), mark);
    return frame;
  }
  // The C library's note of the thread's id is where glibc has it.
  Address add_thread(std::int32_t tid, Address frame) {
    const Address handle = memory.add(1024);
    memory.set(handle + 720, tid);
    const Address thread = memory.add(512);
    memory.set(at(thread, layout_.thread_handle), handle);
    memory.set(thread + 16, interpreter_);
    if (layout_.cframe_frame >= 0) {
      const Address cframe = memory.add(64);
      memory.set(at(cframe, layout_.cframe_frame), frame);
      memory.set(at(thread, layout_.thread_frame), cframe);
    } else {
      memory.set(at(thread, layout_.thread_frame), frame);
    }
    if (last_thread_ == 0) memory.set(at(interpreter_, layout_.interpreter_threads), thread);
    if (last_thread_ != 0) memory.set(last_thread_ + 8, thread);
    last_thread_ = thread;
    return thread;
  }
  // Returns the address of the GIL.
  Address hold_gil(Address thread) {
    Address gil = at(runtime_, layout_.runtime_gil);
    if (layout_.interpreter_gil >= 0) {
      gil = memory.add(256);
      memory.set(at(interpreter_, layout_.interpreter_gil), gil);
    }
    memory.set(gil + 8, thread);
    memory.set(gil + 16, std::int32_t{thread != 0});
    return gil;
  }

  FakeMemory memory;

 private:
  static Address at(Address base, std::int32_t offset) { return base + static_cast<Address>(offset); }

  const Layout& layout_;
  Address runtime_ = 0;
  Address code_type_ = 0;
  Address interpreter_ = 0;
  Address last_thread_ = 0;
};

}  // namespace distrun::testing
