// Errors, texts and options of tenon/tenon.h.
#include <new>

#include "json/json.h"
#include "library/handles.h"
#include "library/host_model.h"
#include "library/problems.h"
#include "tools/process/extern_worker.h"

namespace tenon::library {
namespace {

using engine::EngineError;

tenon_status status_of(EngineError::Kind kind) {
  switch (kind) {
    case EngineError::Kind::Usage:
      return TENON_USAGE;
    case EngineError::Kind::Program:
      return TENON_PROGRAM;
    case EngineError::Kind::NotFound:
      return TENON_NOT_FOUND;
    case EngineError::Kind::Conflict:
      return TENON_CONFLICT;
    case EngineError::Kind::WrongInput:
      return TENON_WRONG_INPUT;
    case EngineError::Kind::InUse:
      return TENON_IN_USE;
    case EngineError::Kind::Failed:
      break;
  }
  return TENON_FAILED;
}

std::string_view name_of(tenon_status status) {
  switch (status) {
    case TENON_USAGE:
      return "usage";
    case TENON_PROGRAM:
      return "program";
    case TENON_NOT_FOUND:
      return "not_found";
    case TENON_CONFLICT:
      return "conflict";
    case TENON_WRONG_INPUT:
      return "wrong_input";
    case TENON_IN_USE:
      return "in_use";
    case TENON_INTERNAL:
      return "internal";
    case TENON_FORKED:
      return "forked";
    default:
      return "failed";
  }
}

std::string_view severity_name(diagnostics::Severity severity) {
  switch (severity) {
    case diagnostics::Severity::Warning:
      return "warning";
    case diagnostics::Severity::Note:
      return "note";
    case diagnostics::Severity::Error:
      break;
  }
  return "error";
}

}  // namespace

Json to_json(const engine::Problems& problems) {
  Json list = Json::array();
  for (const engine::Problem& problem : problems.list) {
    list.push_back(Json::object({{"severity", severity_name(problem.severity)},
                                 {"code", problem.code},
                                 {"message", problem.message},
                                 {"path", problem.path},
                                 {"line", problem.line},
                                 {"column", problem.column},
                                 {"text", problem.text}}));
  }
  return list;
}

bool give(const engine::Problems& problems, std::size_t index, tenon_problem* to) {
  if (index >= problems.list.size()) return false;
  const engine::Problem& problem = problems.list[index];
  tenon_problem made = {};
  made.severity = problem.severity == diagnostics::Severity::Warning ? TENON_WARNING
                  : problem.severity == diagnostics::Severity::Note  ? TENON_NOTE
                                                                     : TENON_ERROR;
  made.line = problem.line;
  made.column = problem.column;
  made.code = view(problem.code);
  made.message = view(problem.message);
  made.path = view(problem.path);
  made.text = view(problem.text);
  return give(made, to);
}

tenon_status report(EngineError error, tenon_error** to) noexcept try {
  const tenon_status status = status_of(error.kind);
  if (to == nullptr) return status;
  Json json = Json::object({{"status", name_of(status)}, {"message", error.message}});
  if (!error.setting.empty()) json.set("setting", error.setting);
  json.set("problems", to_json(error.problems));
  std::string message = engine::describe(error);
  *to = new tenon_error{status, std::move(message), json.dump(), std::move(error.problems)};
  return status;
} catch (...) {  // there is no memory for the error
  *to = nullptr;
  return status_of(error.kind);
}

tenon_status report(tenon_status status, std::string_view message, tenon_error** to) noexcept try {
  if (to == nullptr) return status;
  const Json json = Json::object({{"status", name_of(status)}, {"message", message}, {"problems", Json::array()}});
  *to = new tenon_error{status, std::string(message), json.dump(), {}};
  return status;
} catch (...) {  // there is no memory for the error
  *to = nullptr;
  return status;
}

tenon_status report_exception(tenon_error** to) noexcept {
  try {
    throw;
  } catch (const BrokenCondition& broken) {
    return report(TENON_INTERNAL, broken.what(), to);
  } catch (const std::bad_alloc&) {
    return report(TENON_FAILED, "out of memory", to);
  } catch (const std::exception& problem) {  // such as a thread that cannot be started
    return report(TENON_FAILED, problem.what(), to);
  } catch (...) {
    return report(TENON_FAILED, "an exception without a message", to);
  }
}

tenon_status report_null(tenon_error** to) noexcept {
  return report(TENON_USAGE, "a handle, or a pointer for a result, is NULL", to);
}

tenon_status report_stopped(tenon_error** to) {
  return report(TENON_CONFLICT, "the engine was stopped", to);
}

}  // namespace tenon::library

using tenon::library::release_user;
using tenon::library::report;
using tenon::library::share_user;
using tenon::library::text_or_empty;
using tenon::library::view;

uint32_t tenon_abi(void) {
  return TENON_ABI;
}

const char* tenon_version(void) {
  return TENON_VERSION;
}

tenon_text tenon_string_text(const tenon_string* string) {
  return tenon::library::view_of(string, [](const tenon_string& one) -> auto& { return one.text; });
}

void tenon_string_free(tenon_string* string) {
  delete string;
}

tenon_status tenon_error_status(const tenon_error* error) {
  return error == nullptr ? TENON_FAILED : error->status;
}

tenon_text tenon_error_message(const tenon_error* error) {
  return error == nullptr ? tenon_text_of("out of memory") : view(error->message);
}

tenon_text tenon_error_json(const tenon_error* error) {
  return error == nullptr ? tenon_text_of(R"({"status":"failed","message":"out of memory","problems":[]})")
                          : view(error->json);
}

bool tenon_error_problem(const tenon_error* error, size_t index, tenon_problem* problem) {
  return error != nullptr && tenon::library::give(error->problems, index, problem);
}

void tenon_error_free(tenon_error* error) {
  delete error;
}

tenon_options* tenon_options_new(void) {
  return new (std::nothrow) tenon_options;
}

void tenon_options_free(tenon_options* options) {
  delete options;
}

tenon_status tenon_options_set(tenon_options* options, const char* name, const char* value, tenon_error** error) {
  if (!tenon::library::prepare(error, {options})) return TENON_USAGE;
  try {
    auto set = tenon::library::set_option(options->options, text_or_empty(name), text_or_empty(value));
    return set ? TENON_OK : report(std::move(set.error()), error);
  } catch (...) {
    return tenon::library::report_exception(error);
  }
}

tenon_status tenon_options_set_secret(tenon_options* options, const char* name, const char* value,
                                      tenon_error** error) {
  if (!tenon::library::prepare(error, {options})) return TENON_USAGE;
  try {
    auto set = tenon::library::set_secret(options->options, text_or_empty(name), text_or_empty(value));
    return set ? TENON_OK : report(std::move(set.error()), error);
  } catch (...) {
    return tenon::library::report_exception(error);
  }
}

namespace {

/// Changes options with `set`. What there is no memory for is a problem of the options.
template <class Set>
void change(tenon_options* options, const Set& set) noexcept {
  if (options == nullptr) return;
  try {
    set(*options);
  } catch (...) {
    options->memory_problem =
        "out of memory: an extern, the model, the hooks or the worker is missing; make new options";
  }
}

}  // namespace

std::string tenon_options::problem() const {
  for (const char* const problem : {memory_problem, model_problem, hooks_problem}) {
    if (problem != nullptr) return problem;
  }
  for (const auto& [name, function] : options.functions) {
    if (!function) return "the extern `" + name + "` has no function";
  }
  return {};
}

void tenon_options_on_notice(tenon_options* options, tenon_notice_function function, void* user) {
  change(options, [&](tenon_options& to) {
    to.options.on_notice = nullptr;
    if (function == nullptr) return;
    to.options.on_notice = [function, user](tenon::engine::NoticeKind kind, std::string_view text) {
      const std::string whole(text);
      try {
        function(user, kind == tenon::engine::NoticeKind::Warning, view(whole));
      } catch (...) {
        // Nothing is called for that could fail.
      }
    };
  });
}

void tenon_options_add_extern(tenon_options* options, const char* name, tenon_host_function function, void* user,
                              void (*release)(void* user)) {
  if (options == nullptr) return release_user(user, release);
  change(options, [&](tenon_options& to) {
    auto shared = share_user(user, release);
    tenon::tools::ProvidedFunction& set = to.options.functions[text_or_empty(name)];
    set = nullptr;
    if (function == nullptr) return;
    set = [function, shared = std::move(shared)](tenon_call* call) { function(call, shared.get()); };
  });
}

void tenon_options_set_model(tenon_options* options, const char* name, const tenon_model* model, void* user,
                             void (*release)(void* user)) {
  if (options == nullptr) return release_user(user, release);
  change(options, [&](tenon_options& to) {
    auto shared = share_user(user, release);
    const tenon_model known = model == nullptr ? tenon_model{} : tenon::library::known_members(*model);
    to.model_problem = known.start != nullptr
                           ? nullptr
                           : "the model has no function `start`: it is NULL, or not within the `size` of its struct";
    to.options.model = {text_or_empty(name), known, std::move(shared)};
  });
}

void tenon_options_set_extern_hooks(tenon_options* options, const tenon_extern_hooks* hooks, void* user,
                                    void (*release)(void* user)) {
  if (options == nullptr) return release_user(user, release);
  change(options, [&](tenon_options& to) {
    const auto shared = share_user(user, release);
    tenon::tools::ProvidedHooks& set = to.options.function_hooks;
    set = {};
    to.hooks_problem = nullptr;
    if (hooks == nullptr) return;
    const tenon_extern_hooks known = tenon::library::known_members(*hooks);
    if (known.size == 0) to.hooks_problem = "the `size` of the hooks of externs is 0";
    if (known.before_calls != nullptr) set.before_calls = [call = known.before_calls, shared] { call(shared.get()); };
    if (known.after_calls != nullptr) set.after_calls = [call = known.after_calls, shared] { call(shared.get()); };
    if (known.cancelled != nullptr) {
      set.on_cancelled = [call = known.cancelled, shared](const tenon_call* which) { call(shared.get(), which); };
    }
  });
}

void tenon_options_set_worker(tenon_options* options, const char* const* command) {
  change(options, [&](tenon_options& to) {
    to.options.worker.clear();
    for (; command != nullptr && *command != nullptr; ++command) to.options.worker.emplace_back(*command);
  });
}

int tenon_extern_worker(void) {
  return tenon::tools::run_extern_worker();
}

bool tenon_defer(tenon_call* call) {
  try {
    return call != nullptr && tenon::tools::defer(call);
  } catch (...) {
    tenon_fail_text(call, "out of memory", 13);
    return false;
  }
}

bool tenon_may_begin(tenon_call* call) {
  return call != nullptr && tenon::tools::may_begin(call);
}

bool tenon_is_lone(const tenon_call* call) {
  return call != nullptr && tenon::tools::is_lone(call);
}

bool tenon_perform_outside(tenon_call* call, tenon_host_function function, void* user) {
  if (call == nullptr || function == nullptr) return false;
  try {
    return tenon::tools::perform_outside(call, [function, user](tenon_call* performed) { function(performed, user); });
  } catch (...) {
    return false;
  }
}

void tenon_finish(tenon_call* call) {
  if (call != nullptr) tenon::tools::finish_deferred(call);
}
