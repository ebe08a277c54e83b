#pragma once
// The contract of every driver of devices. The cases are in driver_contract.cpp and similar files; each driver has a
// separate binary with one more source, which creates it.
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <distrun/runtime/device/driver.hpp>

#include "support/skip.hpp"

namespace distrun::device {

struct Subject {
  std::unique_ptr<Driver> driver;  // null: not available here
  std::string why_absent;
  bool is_asynchronous = true;
  bool shares_with_processes = true;
};

// Creates a separate driver for a case.
Subject make_subject();

// Returns a subject with a driver; skips the case without one.
inline Subject subject_with_driver() {
  Subject subject = make_subject();
  testing::skip_case_if(subject.driver == nullptr, subject.why_absent);
  return subject;
}

// Device memory for a scope.
class Buffer {
 public:
  Buffer(Driver& driver, int device, std::size_t bytes)
      : driver_(driver), device_(device), data_(driver.allocate(device, bytes)) {}
  ~Buffer() { driver_.free(device_, data_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  void* data() const { return data_; }

 private:
  Driver& driver_;
  int device_;
  void* data_;
};

// A stream, for a scope.
class OwnStream {
 public:
  explicit OwnStream(Driver& driver, int device = 0, Priority priority = Priority::Normal)
      : driver_(driver), ref_{device, driver.make_stream(device, priority)} {}
  ~OwnStream() { driver_.destroy_stream(ref_); }
  OwnStream(const OwnStream&) = delete;
  OwnStream& operator=(const OwnStream&) = delete;
  operator StreamRef() const { return ref_; }

 private:
  Driver& driver_;
  StreamRef ref_;
};

// An event, for a scope.
class OwnEvent {
 public:
  explicit OwnEvent(Driver& driver, EventOptions options = {}, int device = 0)
      : driver_(driver), device_(device), id_(driver.make_event(device, options)) {}
  ~OwnEvent() { driver_.destroy_event(device_, id_); }
  OwnEvent(const OwnEvent&) = delete;
  OwnEvent& operator=(const OwnEvent&) = delete;
  operator EventId() const { return id_; }

 private:
  Driver& driver_;
  int device_;
  EventId id_;
};

inline constexpr StreamRef kDefault{};

// Returns the contents of device memory once the stream's work is done.
std::vector<int> read(Driver& driver, StreamRef stream, const void* memory, std::size_t count);
void write(Driver& driver, StreamRef stream, void* memory, const std::vector<int>& values);

}  // namespace distrun::device
