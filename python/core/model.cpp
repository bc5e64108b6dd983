#include "core/model.h"

#include <memory>
#include <tenon/tenon.hpp>
#include <utility>

#include "core/gil.h"

namespace tenon::python {
namespace {

void start(void* user, tenon_generation* generation, tenon_text request) {
  const Callback callback;
  if (!callback.is_allowed()) {
    return tenon_generation_fail(generation, TENON_MODEL_REJECTED, tenon_text_of("the interpreter has ended"));
  }
  auto owned = std::make_unique<Generation>(generation);
  try {
    (*static_cast<nb::object*>(user))(nb::cast(std::move(owned)), nb::str(request.data, request.length));
  } catch (nb::python_error& error) {
    error.discard_as_unraisable("the model of an engine");  // the answer has failed with its object
  }
}

void release(void* user) {
  const Callback callback;
  if (callback.is_allowed()) delete static_cast<nb::object*>(user);
}

}  // namespace

Generation::~Generation() {
  fail("the model gave no answer", false);
}

void Generation::add(const std::string& piece) {
  if (generation_ != nullptr) without_lock([&] { tenon_generation_add(generation_, host::text_of(piece)); });
}

void Generation::finish(const std::string& text) {
  if (tenon_generation* const ended = std::exchange(generation_, nullptr)) {
    without_lock([&] { tenon_generation_finish(ended, host::text_of(text)); });
  }
}

void Generation::fail(const std::string& message, bool is_unreachable) {
  const tenon_model_failure failure = is_unreachable ? TENON_MODEL_UNREACHABLE : TENON_MODEL_REJECTED;
  if (tenon_generation* const ended = std::exchange(generation_, nullptr)) {
    without_lock([&] { tenon_generation_fail(ended, failure, host::text_of(message)); });
  }
}

void set_model(tenon_options* options, const std::string& name, const nb::object& started) {
  static const tenon_model functions = {sizeof(tenon_model), &start, nullptr};
  tenon_options_set_model(options, name.c_str(), &functions, new nb::object(started), &release);
}

}  // namespace tenon::python
