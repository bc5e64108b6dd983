#include "core/dispatcher.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <utility>

#include "core/errors.h"
#include "core/gil.h"

namespace tenon::python {
Dispatcher::Dispatcher(nb::object need_loop, nb::object start_thread, std::size_t threads_max, bool has_externs)
    : need_loop_(std::move(need_loop)),
      calls_(std::move(start_thread), threads_max),
      contexts_(std::make_shared<Contexts>(has_externs)),
      descriptor_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (descriptor_ < 0) throw std::runtime_error("too many open files: an engine needs an eventfd");
}

Dispatcher::~Dispatcher() {
  ::close(descriptor_);
}

void Dispatcher::add(Item item) {
  {
    const std::scoped_lock lock(mutex_);
    items_.push_back(std::move(item));
    if (items_.size() == 1) {  // otherwise the descriptor is readable
      const std::uint64_t one = 1;
      static_cast<void>(::write(descriptor_, &one, sizeof one));
    }
    if (has_loop_.exchange(true)) return;
  }
  ask_for_loop();
}

void Dispatcher::ask_for_loop() {
  std::string why;
  bool may_end = false;
  {
    const Callback callback;
    if (!callback.is_allowed()) return;
    try {
      need_loop_();
      return;
    } catch (nb::python_error& error) {
      {
        const std::scoped_lock lock(mutex_);
        has_loop_ = false;  // the next one asks again
      }
      // Ctrl-C is raised again where the thread waits for the run.
      if (error.matches(PyExc_KeyboardInterrupt)) return PyErr_SetInterrupt();
      why = nb::str(error.value()).c_str();
      may_end = is_before_end();
    }
  }
  if (may_end && await_end()) return;
  fail_items("no event loop could be started: " + why);
}

/// With the mutex locked.
std::vector<Dispatcher::Item> Dispatcher::take_items() {
  std::uint64_t count = 0;
  static_cast<void>(::read(descriptor_, &count, sizeof count));
  return std::exchange(items_, {});
}

/// No loop will start what was added.
void Dispatcher::fail_items(const std::string& why) {
  std::vector<Item> items;
  {
    const std::scoped_lock lock(mutex_);
    if (has_loop_) return;  // there is one meanwhile
    items = take_items();
  }
  for (const Item& item : items) {
    if (const auto* const started = std::get_if<StartedCall>(&item)) {
      tenon_fail_unavailable(started->call, why.c_str());
      tenon_finish(started->call);
    } else if (const auto* const generation = std::get_if<StartedGeneration>(&item)) {
      tenon_generation_fail(generation->generation, TENON_MODEL_UNREACHABLE, {why.data(), why.size()});
    }
  }
}

void Dispatcher::expect_loop(bool has_loop) {
  bool has_items = false;
  {
    const std::scoped_lock lock(mutex_);
    has_items = !items_.empty();
    has_loop_ = has_loop || has_items;
  }
  if (!has_loop && has_items) ask_for_loop();
}

void Dispatcher::add_call(std::shared_ptr<Extern> performer, tenon_call* call) {
  add(StartedCall{std::move(performer), call});
}

void Dispatcher::add_cancelled(const tenon_call* call) {
  if (!calls_.cancel(call)) add(Cancelled{call});
}

void Dispatcher::add_generation(tenon_generation* generation, std::string request) {
  add(StartedGeneration{generation, std::move(request)});
}

void Dispatcher::add_cancelled(const tenon_generation* generation) {
  add(Cancelled{generation});
}

void Dispatcher::run_ready(const nb::object& start_model) {
  std::vector<Item> items;
  {
    const std::scoped_lock lock(mutex_);
    items = take_items();
  }
  std::optional<nb::python_error> ending;
  for (const Item& item : items) {
    try {
      if (const auto* const call = std::get_if<StartedCall>(&item)) {
        start(*call);
      } else if (const auto* const generation = std::get_if<StartedGeneration>(&item)) {
        start(*generation, start_model);
      } else {
        cancel(std::get<Cancelled>(item).which);
      }
    } catch (nb::python_error& error) {  // the others are started even so
      if (error.matches(PyExc_KeyboardInterrupt) || error.matches(PyExc_SystemExit)) {
        ending.emplace(error);
      } else {
        error.discard_as_unraisable("what an engine has started");
      }
    } catch (const std::exception& exception) {
      PyErr_SetString(PyExc_RuntimeError, exception.what());
      PyErr_WriteUnraisable(nullptr);
    }
  }
  if (ending) throw nb::python_error(std::move(*ending));  // a coroutine has raised it, so it ends the event loop
}

/// Notes what can be cancelled, unless it has ended while it was started.
void Dispatcher::keep(const void* which, nb::object running) {
  const auto found = started_.find(which);
  if (found == started_.end()) return;
  if (running.is_none()) {
    started_.erase(found);
  } else {
    found->second = std::move(running);
  }
}

void Dispatcher::start(const StartedCall& started) {
  started_[started.call] = nb::none();
  keep(started.call, started.performer->start(started.call));
}

void Dispatcher::start(const StartedGeneration& started, const nb::object& start_model) {
  started_[started.generation] = nb::none();
  auto owned = std::make_unique<Generation>(started.generation, shared_from_this());
  // If that fails, so does the answer, with its object.
  keep(started.generation, start_model(nb::cast(std::move(owned)), to_str(started.request)));
}

void Dispatcher::cancel(const void* which) {
  const auto found = started_.find(which);
  if (found == started_.end()) return;  // it has ended meanwhile
  const nb::object running = std::move(found->second);
  started_.erase(found);
  if (running.is_none()) return;
  try {
    nb::module_::import_("tenon._setup").attr("cancel")(running);
  } catch (nb::python_error& error) {
    error.discard_as_unraisable("the cancellation of a call");
  }
}

void set_hooks(tenon_options* options, const std::shared_ptr<Dispatcher>& dispatcher) {
  static const tenon_extern_hooks hooks = {
      sizeof(tenon_extern_hooks),
      nullptr,
      nullptr,
      [](void* user, const tenon_call* call) {
        (*static_cast<std::shared_ptr<Dispatcher>*>(user))->add_cancelled(call);
      },
  };
  tenon_options_set_extern_hooks(options, &hooks, new std::shared_ptr<Dispatcher>(dispatcher), [](void* user) {
    const Callback callback;
    if (callback.is_allowed()) delete static_cast<std::shared_ptr<Dispatcher>*>(user);
  });
}

}  // namespace tenon::python
