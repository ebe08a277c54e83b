#include <distrun/runtime/profiler/span.hpp>

#include <distrun/runtime/core/tracing.hpp>
#include <distrun/runtime/profiler/record.hpp>

namespace distrun::profiler {

void Span::begin(std::string_view name) {
  if (Record::wanted() == nullptr) return;  // the enclosing scope is over, but its work continues
  record_ = Record::begin(std::string(name)).release();
}

void Span::set_name(std::string name) {
  if (record_ != nullptr) record_->event.name = std::move(name);
}

void Span::set_async() {
  if (record_ != nullptr) record_->event.is_async = true;
}

void Span::add_note(std::string name, std::string text) {
  if (record_ != nullptr) record_->event.notes.emplace_back(std::move(name), std::move(text));
}

// A span without a name is not traced.
void Span::trace(std::string_view name) noexcept {
  writer_ = name.empty() ? nullptr : core::tracer();
  if (writer_ == nullptr) return;
  trace::SliceInfo info;
  info.kind = trace::Kind::Span;
  info.name = name;
  slice_ = writer_->begin(info);
}

void Span::end_slice() noexcept {
  if (const std::uint64_t slice = std::exchange(slice_, 0); slice != 0) writer_->end(slice);
}

void Span::end() noexcept {
  end_slice();
  if (record_ == nullptr) return;
  std::unique_ptr<Record> record(std::exchange(record_, nullptr));
  if (!record->event.name.empty()) Record::end(std::move(record));
}

void Span::drop() noexcept {
  end_slice();
  delete std::exchange(record_, nullptr);
}

}  // namespace distrun::profiler
