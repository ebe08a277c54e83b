// How References creates references: to a value of this worker, and to the result of a call.
#include <utility>

#include <distrun/common/base/error.hpp>
#include <distrun/runtime/core/inline_function.hpp>
#include <distrun/runtime/rref/references.hpp>

namespace distrun::rref {
namespace {

std::string text_of(base::Location site) {
  const std::string_view file(site.file);
  const std::size_t slash = file.rfind('/');
  return std::string(slash == std::string_view::npos ? file : file.substr(slash + 1)) + ":" + std::to_string(site.line);
}

}  // namespace

// Handles the answer of a call that creates a value elsewhere.
class Creation final : public future::Continuation {
 public:
  Creation(std::shared_ptr<References> references, HandlePtr handle)
      : references_(std::move(references)), handle_(std::move(handle)) {}
  void run(const std::shared_ptr<future::FutureState>& done) noexcept override {
    references_->end_creation(*handle_, done->error());
  }
  void abandon(future::FutureState&, const std::exception_ptr& why) noexcept override {
    references_->end_creation(*handle_, why);
  }
  bool is_quick() const noexcept override { return true; }

 private:
  const std::shared_ptr<References> references_;
  const HandlePtr handle_;
};

HandlePtr References::make_local(Value value, base::Location site) {
  const RRefId r = change([&] { return protocol_.next_rref(); });
  HandlePtr handle = make_handle(self_, r);
  handle->value_ = std::make_shared<OwnedValue>(r, text_of(site) + " (" + self_.name() + ")");
  Sink(handle->value_).set(value);
  return handle;
}

HandlePtr References::create(rpc::CallRequest request) {
  core::refuse_in_inline_function("makes a call", request.to.site());
  const auto calls = this->calls();
  const WorkerInfo owner = calls->workers().resolve(request.to);
  request.to = request.to.with_worker(owner);
  request.mode = rpc::CallMode::Remote;
  request.waits_for_room = true;
  if (owner.id() == self_.id()) return create_here(*calls, std::move(request));
  OwnedSection section;
  section.site = text_of(request.to.site()) + " (" + self_.name() + ")";
  change([&] {
    section.rref = protocol_.next_rref();
    section.fork = protocol_.next_fork();
  });
  const HandlePtr handle = make_handle(owner, section.rref);  // not under the lock, which its end takes
  handle->fork_ = section.fork;
  handle->site_ = section.site;
  handle->state_.store(Handle::State::Pending);
  const wire::Bytes encoded = wire::encode(section);
  change([&] {
    users_.emplace(section.fork, handle.get());
    protocol_.begin_creation(section.rref, section.fork, owner.id());
    ++creations_;
  });
  try {
    request.sections.push_back({rpc::SectionTag::Owned, encoded});
    const auto creation = calls->sender().call(std::move(request));
    {
      const std::lock_guard lock(handle->mutex_);
      handle->creation_ = creation;
    }
    creation.state()->attach(std::make_unique<Creation>(shared_from_this(), handle));
  } catch (const Error& error) {
    forget_creation(section.fork);
    if (!rpc::is_of_delivery(error)) throw;
    fail_unsent(*handle, error);
  } catch (...) {
    forget_creation(section.fork);
    throw;
  }
  return handle;
}

void References::forget_creation(ForkId fork) noexcept {
  change_if_memory([&] {
    protocol_.forget_creation(fork);
    --creations_;
  });
}

// Another owner never learns of the reference, so its end is not sent either.
void References::fail_unsent(Handle& handle, const Error& error) {
  auto creation = future::Future<Value>::of(rpc::failed_future(rpc::kResultOf<Value>, error, error.where()));
  creation.state()->mark_seen();  // each use of the reference shows the error
  {
    const std::lock_guard lock(handle.mutex_);
    handle.creation_ = std::move(creation);
  }
  if (handle.is_owner()) return Sink(handle.value_).fail(error);
  end_user(handle, Handle::State::TimedOut, std::string(error.text()));
}

// Creates a value that others may have asked for already.
std::shared_ptr<OwnedValue> References::own_created(const OwnedSection& section, WorkerId holder) {
  const bool is_asked = values_.contains(section.rref);
  std::shared_ptr<OwnedValue> value = value_of(section.rref, section.site);
  try {
    protocol_.create(section.rref, section.fork, holder);
  } catch (...) {
    if (!is_asked) values_.erase(section.rref);
    throw;
  }
  return value;
}

// Until the call is answered, a fork with the reference's own id represents it.
HandlePtr References::create_here(rpc::Calls& calls, rpc::CallRequest request) {
  OwnedSection section;
  section.site = text_of(request.to.site()) + " (" + self_.name() + ")";
  const HandlePtr handle = change([&] {
    section.rref = protocol_.next_rref();
    section.fork = {section.rref.created_on, section.rref.local_id};
    HandlePtr made = make_handle(self_, section.rref);
    made->value_ = own_created(section, self_.id());
    return made;
  });
  try {
    request.sections.push_back({rpc::SectionTag::Owned, wire::encode(section)});
    const auto creation = calls.sender().call(std::move(request));
    {
      const std::lock_guard lock(handle->mutex_);
      handle->creation_ = creation;
    }
    creation.state()->attach(std::make_unique<Creation>(shared_from_this(), handle));
  } catch (const Error& error) {
    end_creation_here(*handle);
    if (!rpc::is_of_delivery(error)) throw;
    fail_unsent(*handle, error);
  } catch (...) {
    end_creation_here(*handle);
    throw;
  }
  return handle;
}

void References::end_creation_here(const Handle& handle) noexcept {
  const RRefId r = handle.rref_;
  change_if_memory([&] { protocol_.withdraw({r, {r.created_on, r.local_id}, self_.id(), self_.id()}); });
}

void References::end_creation(const Handle& handle, const std::exception_ptr& error) noexcept {
  if (handle.is_owner()) {
    end_creation_here(handle);
    if (error == nullptr) return;
    const auto why = [&] { return unconfirmed(future::describe_error(error)); };
    return Sink(handle.value_).fail(base::error_or_shortage(ErrorKind::Failed, why));  // unless the value exists
  }
  if (error == nullptr) {
    return change_if_memory([&] {
      --creations_;
      protocol_.confirm_creation(handle.fork_);
    });
  }
  change_if_memory([&] {
    --creations_;
    const auto user = users_.find(handle.fork_);
    if (user != users_.end() && user->second->state() == Handle::State::Pending) {
      end_user(*user->second, Handle::State::TimedOut, std::string(future::describe_error(error)));
    }
    protocol_.give_up_creation(handle.fork_);
    if (waiting_ > 0) changed_.notify_all();
  });
}

HandlePtr refer_to_value(Value value, base::Location site) {
  return current_references()->make_local(std::move(value), site);
}

HandlePtr refer_to_result(rpc::CallRequest request) { return current_references()->create(std::move(request)); }

}  // namespace distrun::rref
