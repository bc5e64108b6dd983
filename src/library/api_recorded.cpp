// Recorded runs of tenon/tenon.h: forks, replays, artifacts.
#include <utility>

#include "algebra/derived_forms.h"
#include "algebra/extract.h"
#include "algebra/form.h"
#include "algebra/npz.h"
#include "engine/fork.h"
#include "engine/program.h"
#include "engine/replay.h"
#include "engine/stored_run.h"
#include "library/handles.h"

using namespace tenon;
using library::guarded;
using library::report;
using library::report_stopped;
using library::text_or_empty;

namespace {

/// Calls `use` with the engine and its store.
template <class Use>
tenon_status with_store(tenon_engine* engine, tenon_error** error, Use use) {
  return guarded(*engine->state, error, [&]() -> tenon_status {
    if (engine->state->is_stopped()) return report_stopped(error);
    auto opened = engine->state->open();
    if (!opened) return report(std::move(opened.error()), error);
    return (*opened)->call([&](engine::Engine& used) -> tenon_status {
      if (engine->state->is_stopped()) return report_stopped(error);  // while this thread has waited for the engine
      journal::Store* const store = used.store();
      if (store == nullptr) return report(TENON_CONFLICT, "the engine has no store", error);
      return use(used, *store);
    });
  });
}

/// Begins a fork in the store. Returns its name.
Result<std::string, engine::EngineError> begin_fork(const library::EngineState& state, engine::Engine& used,
                                                    journal::Store& store, const char* name, std::uint64_t at,
                                                    const tenon_program* program) {
  const engine::System& system = state.system();
  const journal::RunName fork = journal::make_run_name(wall_ms(system.clock));
  const engine::ForkChoice choice{.from = {text_or_empty(name)},
                                  .at = at,
                                  .model = used.model_spec(),
                                  .judge = used.judge_spec(),
                                  .program = program != nullptr ? program->program.image->loaded() : nullptr};
  auto prepared = engine::prepare_fork(store, fork, choice, state.options().store.path, system);
  if (!prepared) return failure(std::move(prepared.error()));
  if (auto stored = algebra::commit_fork(store, *prepared); !stored) {
    return failure(engine::EngineError{engine::EngineError::Kind::Failed, std::move(stored.error().message)});
  }
  return fork.text;
}

}  // namespace

tenon_status tenon_run_fork(tenon_engine* engine, const char* name, uint64_t at, tenon_program* program, uint32_t flags,
                            tenon_run** run, tenon_error** error) {
  if (!library::prepare(error, {engine}, run)) return TENON_USAGE;
  std::string fork;
  const tenon_status begun = with_store(engine, error, [&](engine::Engine& used, journal::Store& store) {
    auto made = begin_fork(*engine->state, used, store, name, at, program);
    if (!made) return report(std::move(made.error()), error);
    fork = std::move(*made);
    return static_cast<tenon_status>(TENON_OK);
  });
  return begun == TENON_OK ? tenon_run_resume(engine, fork.c_str(), flags, run, error) : begun;
}

tenon_status tenon_run_replay(tenon_engine* engine, const char* name, tenon_program* program, tenon_string** difference,
                              tenon_error** error) {
  if (!library::prepare(error, {engine}, difference)) return TENON_USAGE;
  return with_store(engine, error, [&](engine::Engine&, journal::Store& store) -> tenon_status {
    auto replayed =
        engine::replay(store, {text_or_empty(name)}, program != nullptr ? program->program.image->loaded() : nullptr);
    if (!replayed) return report(std::move(replayed.error()), error);
    *difference = new tenon_string{std::move(replayed->difference)};
    return TENON_OK;
  });
}

tenon_status tenon_run_artifacts(tenon_engine* engine, const char* name, const char* form, tenon_string** artifacts,
                                 tenon_error** error) {
  if (!library::prepare(error, {engine}, artifacts)) return TENON_USAGE;
  const std::string_view wanted = text_or_empty(form);
  if (wanted != "json" && wanted != "npz" && wanted != "hash" && wanted != "calls") {
    return library::caught(error, [&] {
      const std::string given(wanted);
      return report(TENON_USAGE, "expected the form `json`, `npz`, `hash` or `calls`, got `" + given + "`", error);
    });
  }
  return with_store(engine, error, [&](engine::Engine&, journal::Store& store) -> tenon_status {
    // A run that the store does not have, or that was forgotten, has an error of its own.
    if (auto stored = engine::read_stored_run(store, {text_or_empty(name)}); !stored) {
      return report(std::move(stored.error()), error);
    }
    const auto found = algebra::extract(store, {text_or_empty(name)}, engine::images_without_externs());
    if (!found) return report(TENON_FAILED, found.error().message, error);
    std::string text;
    if (wanted == "npz") {
      auto archive = algebra::write_npz(found->artifacts);
      if (!archive) return report(TENON_FAILED, archive.error().message, error);
      text = std::move(*archive);
    } else if (wanted == "hash") {
      text = algebra::name_of(found->artifacts);
    } else {
      text = wanted == "json" ? algebra::write_form(found->artifacts) : algebra::draw_calls(*found);
    }
    *artifacts = new tenon_string{std::move(text)};
    return TENON_OK;
  });
}
