#include "core/replies.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <utility>

namespace tenon::python {
namespace {

struct Receiver {
  std::shared_ptr<Replies> replies;
  std::uint64_t number;
};

/// A wait of a thread that hears no signals is begun again after this time.
constexpr std::uint64_t wait_max_ms = 1'000'000;

}  // namespace

Replies::Replies() : descriptor_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (descriptor_ < 0) throw std::runtime_error("too many open files: a host needs an eventfd");
}

Replies::~Replies() {
  for (auto& [number, expected] : expected_) tenon_error_free(expected.reply.error);
  ::close(descriptor_);
}

std::uint64_t Replies::expect(bool is_awaited) {
  const std::scoped_lock lock(mutex_);
  expected_[++numbers_].is_awaited = is_awaited;
  return numbers_;
}

void* Replies::user_of(std::uint64_t number) {
  return new Receiver{shared_from_this(), number};
}

void Replies::forget(std::uint64_t number, void* user) {
  delete static_cast<Receiver*>(user);
  const std::scoped_lock lock(mutex_);
  expected_.erase(number);
}

void Replies::take(void* user, tenon_text run, std::uint64_t after, tenon_error* error) {
  const std::unique_ptr<Receiver> receiver(static_cast<Receiver*>(user));
  receiver->replies->add(receiver->number, {std::string(run.data, run.length), after, error});
}

void Replies::add(std::uint64_t number, Reply reply) {
  const std::scoped_lock lock(mutex_);
  const auto found = expected_.find(number);
  if (found == expected_.end()) return tenon_error_free(reply.error);  // abandoned
  found->second.reply = std::move(reply);
  found->second.has_come = true;
  if (!found->second.is_awaited) return came_.notify_all();
  ready_.push_back(number);
  if (ready_.size() > 1) return;  // the descriptor is readable
  const std::uint64_t one = 1;
  static_cast<void>(::write(descriptor_, &one, sizeof one));
}

tenon_status Replies::wait(std::uint64_t number, std::uint64_t milliseconds, Reply& reply) {
  std::unique_lock lock(mutex_);
  const auto has_come = [&] { return expected_.at(number).has_come; };
  const auto is_over = [&, interrupts = interrupts_] { return has_come() || interrupts_ != interrupts; };
  while (!is_over()) {
    const std::uint64_t piece = std::min(milliseconds, wait_max_ms);
    if (piece == 0) return TENON_NOT_YET;
    came_.wait_for(lock, std::chrono::milliseconds(piece), is_over);
    if (milliseconds != TENON_FOREVER) milliseconds -= piece;
  }
  if (!has_come()) return TENON_NOT_YET;
  reply = std::move(expected_.at(number).reply);
  expected_.erase(number);
  return TENON_OK;
}

void Replies::interrupt() {
  const std::scoped_lock lock(mutex_);
  ++interrupts_;
  came_.notify_all();
}

std::vector<Replies::Numbered> Replies::take_awaited() {
  const std::scoped_lock lock(mutex_);
  std::uint64_t count = 0;
  static_cast<void>(::read(descriptor_, &count, sizeof count));
  std::vector<Numbered> taken;
  for (const std::uint64_t number : std::exchange(ready_, {})) {
    const auto found = expected_.find(number);
    if (found == expected_.end()) continue;
    taken.push_back({number, std::move(found->second.reply)});
    expected_.erase(found);
  }
  return taken;
}

void Replies::abandon(std::uint64_t number) {
  const std::scoped_lock lock(mutex_);
  const auto found = expected_.find(number);
  if (found == expected_.end()) return;
  tenon_error_free(found->second.reply.error);
  expected_.erase(found);
}

}  // namespace tenon::python
