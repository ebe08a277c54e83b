#include <distrun/runtime/store/file_store.hpp>

#include "store_contract.hpp"
#include "support/scratch.hpp"

namespace distrun::stores {
namespace {

class FileSubject final : public Subject {
 public:
  std::shared_ptr<Store> open() override { return std::make_shared<FileStore>(folder_.path() + "/store"); }
  bool tells_changes() const override { return false; }

 private:
  testing::Scratch folder_;
};

}  // namespace

std::unique_ptr<Subject> make_subject() { return std::make_unique<FileSubject>(); }

}  // namespace distrun::stores
