#include "core/contexts.h"

#include <utility>

namespace tenon::python {

Contexts::Contexts(bool is_used) {
  if (!is_used) return;
  copy_ = nb::module_::import_("contextvars").attr("copy_context");
  engines_ = copy_();
}

nb::object Contexts::find(std::uint64_t run) const {
  const auto found = contexts_.find(run);
  return found == contexts_.end() ? engines_ : found->second;
}

nb::object key_of_run(const void* engine, std::uint64_t number) {
  if (number == 0) return nb::none();
  return nb::make_tuple(reinterpret_cast<std::uintptr_t>(engine), number);
}

KeptContext::KeptContext(std::shared_ptr<Contexts> contexts, std::uint64_t run)
    : engine_(contexts.get()), contexts_(contexts->copy_.is_valid() ? std::move(contexts) : nullptr), run_(run) {
  renew();
}

KeptContext::~KeptContext() {
  if (contexts_ == nullptr) return;
  const nb::object forgotten = std::move(contexts_->contexts_[run_]);  // destroyed last: its values may use this
  contexts_->contexts_.erase(run_);
}

KeptContext::KeptContext(KeptContext&& other) noexcept
    : engine_(other.engine_), contexts_(std::exchange(other.contexts_, nullptr)), run_(other.run_) {}

void KeptContext::renew() const {
  if (contexts_ == nullptr) return;
  nb::object now = contexts_->copy_();
  std::swap(contexts_->contexts_[run_], now);
}

}  // namespace tenon::python
