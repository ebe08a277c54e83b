#pragma once
// What every store must do, wherever its table is. The cases are in store_contract.cpp; each store has a binary of its
// own, whose one other source says what it is.
#include <memory>
#include <string>

#include <distrun/runtime/store/store.hpp>

namespace distrun::stores {

// A table of its own for a case, and clients of it.
class Subject {
 public:
  virtual ~Subject() = default;
  virtual std::shared_ptr<Store> open() = 0;  // another client, as another rank would have
  virtual bool tells_changes() const { return true; }
  virtual std::string prefix() const { return ""; }  // of its keys, as texts show them
};
std::unique_ptr<Subject> make_subject();

}  // namespace distrun::stores
