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
  auto node = contexts_->contexts_.extract(run_);
  if (node.empty()) return;
  const nb::object forgotten = std::move(node.mapped());  // destroyed last: its values may use this
  contexts_->spare_ = std::move(node);
}

KeptContext::KeptContext(KeptContext&& other) noexcept
    : engine_(other.engine_), contexts_(std::exchange(other.contexts_, nullptr)), run_(other.run_) {}

void KeptContext::renew() const {
  if (contexts_ == nullptr) return;
  nb::object now = contexts_->copy_();
  auto& all = contexts_->contexts_;
  if (const auto found = all.find(run_); found != all.end()) return std::swap(found->second, now);
  if (contexts_->spare_.empty()) {
    all.emplace(run_, std::move(now));
    return;
  }
  contexts_->spare_.key() = run_;
  contexts_->spare_.mapped() = std::move(now);
  all.insert(std::move(contexts_->spare_));
}

}  // namespace tenon::python
