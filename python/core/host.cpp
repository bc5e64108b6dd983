#include "core/host.h"

#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "core/errors.h"
#include "core/gil.h"

namespace tenon::python {
namespace {

const char* or_null(const std::optional<std::string>& text) {
  return text ? text->c_str() : nullptr;
}

}  // namespace

Follower::~Follower() {
  free_outside(Freeing::Waiting, [follower = follower_] { tenon_follower_free(follower); });
}

nb::object Follower::next(Timeout timeout) {
  tenon_event* found = nullptr;
  const bool is_done = wait_and_hear_signals(
      timeout,
      [&](std::uint64_t milliseconds, tenon_error** error) {
        return tenon_follower_next(follower_, milliseconds, &found, error);
      },
      [follower = follower_] { tenon_follower_interrupt(follower); });
  is_at_end_ = is_done && found == nullptr;
  if (found == nullptr) return nb::none();
  const host::Event event(found);
  return nb::make_tuple(to_str(event.type()), to_str(event.json()));
}

tenon_run_state Follower::state() const {
  tenon_run_state state = TENON_RUN_RUNNING;
  done([&](tenon_error** error) { return tenon_follower_state(follower_, &state, error); });
  return state;
}

/// The thread that stops a host, which may take as long as its effects in progress do.
struct Host::Stopping {
  std::mutex mutex;
  std::condition_variable changed;
  std::uint64_t interrupts = 0;
  bool is_done = false;
  tenon_status status = TENON_OK;
  tenon_error* error = nullptr;
};

Host::Host(tenon_host_role role, const std::vector<std::string>& files, std::shared_ptr<Setup> setup)
    : setup_(std::move(setup)) {
  std::vector<const char*> paths;
  paths.reserve(files.size());
  for (const std::string& file : files) paths.push_back(file.c_str());
  done([&](tenon_error** error) {
    return tenon_host_open(setup_->options(), role, paths.data(), paths.size(), &host_, error);
  });
}

Host::~Host() {
  if (stopping_ != nullptr) {
    std::unique_lock lock(stopping_->mutex);
    if (!stopping_->is_done) return;  // the thread still uses the host, in a process that ends
  }
  free_outside(Freeing::Waiting, [host = host_] { tenon_host_free(host); });
}

void Host::begin() const {
  done([&](tenon_error** error) { return tenon_host_begin(host_, error); });
}

/// The host would wait for the function that waits for it.
void Host::refuse_wait_within() const {
  if (setup_->dispatcher()->calls().is_awaited_here()) raise_used_within();
}

bool Host::stop(double grace, Timeout timeout) {
  refuse_wait_within();
  if (stopping_ == nullptr) {
    stopping_ = std::make_shared<Stopping>();
    std::thread([host = host_, milliseconds = milliseconds_of(grace), stopping = stopping_] {
      tenon_error* error = nullptr;
      const tenon_status status = tenon_host_stop(host, milliseconds, &error);
      const std::scoped_lock lock(stopping->mutex);
      stopping->status = status;
      stopping->error = error;
      stopping->is_done = true;
      stopping->changed.notify_all();
    }).detach();
  }
  return wait_and_hear_signals(
      timeout,
      [&](std::uint64_t milliseconds, tenon_error** error) -> tenon_status {
        std::unique_lock lock(stopping_->mutex);
        const auto is_over = [stopping = stopping_.get(), interrupts = stopping_->interrupts] {
          return stopping->is_done || stopping->interrupts != interrupts;
        };
        if (milliseconds == TENON_FOREVER) {
          stopping_->changed.wait(lock, is_over);
        } else {
          stopping_->changed.wait_for(lock, std::chrono::milliseconds(milliseconds), is_over);
        }
        if (!stopping_->is_done) return TENON_NOT_YET;
        *error = std::exchange(stopping_->error, nullptr);
        return std::exchange(stopping_->status, TENON_OK);
      },
      [stopping = stopping_] {
        const std::scoped_lock lock(stopping->mutex);
        ++stopping->interrupts;
        stopping->changed.notify_all();
      });
}

std::uint16_t Host::serve(const std::string& address, std::uint16_t port, const std::string& token) const {
  std::uint16_t listening = 0;
  done([&](tenon_error** error) {
    return tenon_host_serve(host_, address.c_str(), port, token.c_str(), &listening, error);
  });
  return listening;
}

std::string Host::status() const {
  return without_lock([&] { return host::take_text(tenon_host_status(host_)); });
}

std::string Host::owners() const {
  tenon_string* found = nullptr;
  done([&](tenon_error** error) { return tenon_host_owners(host_, &found, error); });
  return host::take_text(found);
}

std::string Host::counts() const {
  tenon_string* found = nullptr;
  done([&](tenon_error** error) { return tenon_host_counts(host_, &found, error); });
  return host::take_text(found);
}

std::string Host::pools_without_hosts() const {
  tenon_string* found = nullptr;
  done([&](tenon_error** error) { return tenon_host_pools_without_hosts(host_, &found, error); });
  return host::take_text(found);
}

std::string Host::describe() const {
  return without_lock([&] { return host::take_text(tenon_host_describe(host_)); });
}

std::string Host::placements() const {
  return without_lock([&] { return host::take_text(tenon_host_placements(host_)); });
}

std::size_t Host::release(std::size_t count) const {
  std::size_t released = 0;
  done([&](tenon_error** error) { return tenon_host_release(host_, count, TENON_FOREVER, &released, error); });
  return released;
}

std::string Host::run(const std::string& name) const {
  tenon_string* found = nullptr;
  done([&](tenon_error** error) { return tenon_host_run(host_, name.c_str(), &found, error); });
  return host::take_text(found);
}

std::string Host::runs(const std::optional<std::string>& state, const std::optional<std::string>& after,
                       std::size_t limit) const {
  tenon_string* found = nullptr;
  done([&](tenon_error** error) {
    return tenon_host_runs(host_, or_null(state), or_null(after), limit, &found, error);
  });
  return host::take_text(found);
}

nb::object Host::outcome(const std::string& run) const {
  tenon_outcome* found = nullptr;
  if (!done([&](tenon_error** error) { return tenon_host_outcome(host_, run.c_str(), &found, error); })) {
    return nb::none();
  }
  return outcome_parts(host::Outcome(found));
}

std::uint64_t Host::send(tenon_request_kind kind, const std::string& name, const std::optional<std::string>& wait,
                         const std::string& input, const std::optional<std::string>& key, bool is_awaited) {
  if (!is_awaited) refuse_wait_within();
  const tenon_request request = {sizeof(tenon_request), kind,        name.c_str(), or_null(wait),
                                 host::text_of(input),  or_null(key)};
  const std::uint64_t number = replies_->expect(is_awaited);
  void* const user = replies_->user_of(number);
  tenon_error* error = nullptr;
  const tenon_status status =
      without_lock([&] { return tenon_host_send(host_, &request, &Replies::take, user, &error); });
  if (status != TENON_OK) replies_->forget(number, user);
  check(status, error);
  return number;
}

nb::object Host::wait_for_reply(std::uint64_t number, Timeout timeout) {
  Replies::Reply reply;
  try {
    const bool has_come = wait_and_hear_signals(
        timeout,
        [&](std::uint64_t milliseconds, tenon_error** /*error*/) {
          return replies_->wait(number, milliseconds, reply);
        },
        [replies = replies_] { replies->interrupt(); });
    if (!has_come) {
      replies_->abandon(number);
      return nb::none();
    }
  } catch (...) {
    replies_->abandon(number);
    throw;
  }
  if (reply.error != nullptr) check(tenon_error_status(reply.error), reply.error);
  return nb::make_tuple(to_str(reply.run), reply.after);
}

nb::list Host::take_replies() {
  nb::list taken;
  for (auto& [number, reply] : replies_->take_awaited()) {
    if (reply.error == nullptr) {
      taken.append(nb::make_tuple(number, to_str(reply.run), reply.after));
      continue;
    }
    try {
      check(tenon_error_status(reply.error), reply.error);
    } catch (nb::python_error& error) {
      taken.append(nb::make_tuple(number, nb::none(), nb::borrow(error.value())));
    }
  }
  return taken;
}

std::unique_ptr<Follower> Host::follow(const std::string& run, std::uint64_t after) const {
  tenon_follower* follower = nullptr;
  done([&](tenon_error** error) { return tenon_host_follow(host_, run.c_str(), after, &follower, error); });
  return std::make_unique<Follower>(follower);
}

}  // namespace tenon::python
