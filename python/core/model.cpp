#include "core/model.h"

#include <tenon/tenon.hpp>
#include <utility>

#include "core/dispatcher.h"
#include "core/gil.h"

namespace tenon::python {
namespace {

Dispatcher& dispatcher_of(void* user) {
  return **static_cast<std::shared_ptr<Dispatcher>*>(user);
}

void start(void* user, tenon_generation* generation, tenon_text request) {
  dispatcher_of(user).add_generation(generation, host::string_of(request));
}

void cancel(void* user, tenon_generation* generation) {
  dispatcher_of(user).add_cancelled(generation);
}

void release(void* user) {
  const Callback callback;
  if (callback.is_allowed()) delete static_cast<std::shared_ptr<Dispatcher>*>(user);
}

}  // namespace

Generation::~Generation() {
  give_up();
}

void Generation::give_up() {
  fail("the model was given up before it answered", true);
}

tenon_generation* Generation::take() {
  if (generation_ != nullptr) dispatcher_->forget(generation_);
  return std::exchange(generation_, nullptr);
}

void Generation::add(const std::string& piece) {
  if (generation_ != nullptr) tenon_generation_add(generation_, host::text_of(piece));
}

void Generation::finish(const std::string& text) {
  if (tenon_generation* const ended = take()) tenon_generation_finish(ended, host::text_of(text));
}

void Generation::fail(const std::string& message, bool is_unreachable) {
  const tenon_model_failure failure = is_unreachable ? TENON_MODEL_UNREACHABLE : TENON_MODEL_REJECTED;
  if (tenon_generation* const ended = take()) tenon_generation_fail(ended, failure, host::text_of(message));
}

void set_model(tenon_options* options, const std::string& name, const std::shared_ptr<Dispatcher>& dispatcher) {
  static const tenon_model functions = {sizeof(tenon_model), &start, &cancel};
  tenon_options_set_model(options, name.c_str(), &functions, new std::shared_ptr<Dispatcher>(dispatcher), &release);
}

}  // namespace tenon::python
