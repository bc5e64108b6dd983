// Engines, programs and events of tenon/tenon.h.
#include <algorithm>

#include "json/json.h"
#include "library/handles.h"
#include "library/problems.h"
#include "library/program_description.h"

using namespace tenon;
using library::guarded;
using library::report;
using library::report_stopped;
using library::text_or_empty;
using library::view;

tenon_status tenon_engine_open(const tenon_options* options, tenon_engine** engine, tenon_error** error) {
  if (!library::prepare(error, {options}, engine)) return TENON_USAGE;
  try {
    if (const std::string problem = options->problem(); !problem.empty()) return report(TENON_USAGE, problem, error);
    *engine = new tenon_engine{std::make_shared<library::EngineState>(options->options)};
    return TENON_OK;
  } catch (...) {
    return library::report_exception(error);
  }
}

tenon_status tenon_engine_stop(tenon_engine* engine, uint64_t grace, tenon_error** error) {
  if (!library::prepare(error, {engine})) return TENON_USAGE;
  return guarded(*engine->state, error, [&]() -> tenon_status {
    if (engine->state->stop(library::milliseconds_of(grace))) return TENON_OK;
    return report(TENON_CONFLICT, "another thread is stopping the engine, which has stopped when that call returns",
                  error);
  });
}

void tenon_engine_free(tenon_engine* engine) {
  if (engine == nullptr) return;
  // Within a function that it calls, or while another thread stops it, an engine stays: nothing of it can be freed.
  if (tenon_engine_stop(engine, 0, nullptr) == TENON_CONFLICT) return;
  delete engine;
}

void tenon_engine_interrupt(tenon_engine* engine) {
  if (engine != nullptr) engine->state->interrupt();
}

tenon_status tenon_engine_start_thread(tenon_engine* engine, tenon_error** error) {
  if (!library::prepare(error, {engine})) return TENON_USAGE;
  return guarded(*engine->state, error, [&]() -> tenon_status {
    auto opened = engine->state->open();
    if (!opened) return report(std::move(opened.error()), error);
    (*opened)->start_thread();
    return TENON_OK;
  });
}

tenon_status tenon_engine_descriptor(tenon_engine* engine, int* descriptor, tenon_error** error) {
  const bool is_complete = library::prepare(error, {engine, descriptor});
  if (descriptor != nullptr) *descriptor = -1;
  if (!is_complete) return TENON_USAGE;
  return guarded(*engine->state, error, [&]() -> tenon_status {
    auto opened = engine->state->open();
    if (!opened) return report(std::move(opened.error()), error);
    *descriptor = (*opened)->descriptor();
    return TENON_OK;
  });
}

static tenon_status report_no_path(tenon_error** error) {
  return report(TENON_USAGE, "a program needs a path, such as `main.tn`, also one that is given as a text", error);
}

tenon_status tenon_program_load(tenon_engine* engine, const char* path, const char* text, tenon_program** program,
                                tenon_error** error) {
  if (!library::prepare(error, {engine}, program)) return TENON_USAGE;
  return guarded(*engine->state, error, [&]() -> tenon_status {
    if (*text_or_empty(path) == '\0') return report_no_path(error);
    engine::ProgramSource source{text_or_empty(path)};
    if (text != nullptr) source.text = text;
    auto loaded = engine->state->load(source);
    if (!loaded) return report(std::move(loaded.error()), error);
    *program = new tenon_program{engine->state, std::move(*loaded)};
    return TENON_OK;
  });
}

tenon_status tenon_program_compile(tenon_engine* engine, const char* path, const char* text, tenon_program** program,
                                   tenon_error** error) {
  if (!library::prepare(error, {engine}, program)) return TENON_USAGE;
  return guarded(*engine->state, error, [&]() -> tenon_status {
    if (*text_or_empty(path) == '\0') return report_no_path(error);
    engine::ProgramSource source{text_or_empty(path)};
    if (text != nullptr) source.text = text;
    auto compiled = engine->state->compile(source);
    if (!compiled) return report(std::move(compiled.error()), error);
    *program = new tenon_program{engine->state, std::move(*compiled)};
    return TENON_OK;
  });
}

tenon_status tenon_program_of_run(tenon_engine* engine, const char* name, tenon_program** program,
                                  tenon_error** error) {
  if (!library::prepare(error, {engine}, program)) return TENON_USAGE;
  return guarded(*engine->state, error, [&]() -> tenon_status {
    auto loaded = engine->state->load_stored(text_or_empty(name));
    if (!loaded) return report(std::move(loaded.error()), error);
    *program = new tenon_program{engine->state, std::move(*loaded)};
    return TENON_OK;
  });
}

void tenon_program_free(tenon_program* program) {
  delete program;
}

tenon_string* tenon_program_describe(const tenon_program* program) {
  return library::text_for_host(program, [&] { return library::describe_program(program->program.code()).dump(); });
}

tenon_string* tenon_program_warnings(const tenon_program* program) {
  return library::text_for_host(program, [&] { return library::to_json(program->program.warnings).dump(); });
}

bool tenon_program_warning(const tenon_program* program, size_t index, tenon_problem* warning) {
  return program != nullptr && library::give(program->program.warnings, index, warning);
}

tenon_status tenon_next_event(tenon_engine* engine, tenon_run* run, uint64_t timeout, tenon_event** event,
                              tenon_error** error) {
  if (!library::prepare(error, {engine}, event)) return TENON_USAGE;
  if (run != nullptr && run->state != engine->state) {
    return report(TENON_USAGE, "the run is one of another engine", error);
  }
  return guarded(*engine->state, error, [&]() -> tenon_status {
    auto opened = engine->state->open();
    if (!opened) return report(std::move(opened.error()), error);
    std::optional<engine::RunEvent> taken;
    std::uint64_t number = 0;
    bool is_over = run != nullptr && run->slot->has_end;  // the run has no event before it gets something
    if (is_over) return TENON_NOT_YET;
    (*opened)->wait(
        [&](engine::Engine& used) {
          is_over = run != nullptr && run->slot->has_end;  // such as one whose start has failed
          if (is_over) return true;
          if (run != nullptr && !run->slot->is_begun) return false;
          taken = used.take_event(run == nullptr ? std::nullopt : std::optional(run->slot->id));
          if (taken) number = engine->state->number_of(taken->run);
          is_over = !taken && run != nullptr && library::state_of(used, run->slot->id) != TENON_RUN_RUNNING;
          return taken || is_over;
        },
        library::milliseconds_of(timeout));
    if (!taken) return !is_over && engine->state->is_stopped() ? report_stopped(error) : TENON_NOT_YET;
    *event = new tenon_event{std::move(taken->event), number};
    return TENON_OK;
  });
}

tenon_text tenon_event_json(const tenon_event* event) {
  return library::view_of(event, [](const tenon_event& one) -> auto& { return one.event.json; });
}

tenon_text tenon_event_type(const tenon_event* event) {
  if (event == nullptr) return tenon_text_of(nullptr);
  const std::string_view name = protocol::event_type(event->event.kind).name;
  return {name.data(), name.size()};
}

uint64_t tenon_event_run(const tenon_event* event) {
  return event == nullptr ? 0 : event->run;
}

void tenon_event_free(tenon_event* event) {
  delete event;
}
