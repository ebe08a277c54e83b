#pragma once
// The contract of every store, wherever its table is. The cases are in store_contract.cpp; each store has a separate
// binary with one more source, which creates it.
#include <memory>
#include <string>

#include <distrun/runtime/store/store.hpp>

namespace distrun::stores {

// A separate table for a case, and its clients.
class Subject {
 public:
  virtual ~Subject() = default;
  virtual std::shared_ptr<Store> open() = 0;  // another client, as for another rank
  virtual bool tells_changes() const { return true; }
  virtual std::string prefix() const { return ""; }  // of its keys in messages
};
std::unique_ptr<Subject> make_subject();

}  // namespace distrun::stores
