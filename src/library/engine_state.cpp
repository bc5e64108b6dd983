#include "library/engine_state.h"

#include <unistd.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "engine/stored_program.h"
#include "engine/stored_run.h"
#include "library/host_model.h"

namespace tenon::library {

using engine::EngineError;

namespace {

EngineError engine_was_stopped() {
  return {EngineError::Kind::Conflict, "the engine was stopped"};
}

}  // namespace

/// The right to open the engine, which one thread has at a time, without a lock: functions of the embedding program
/// receive notices meanwhile.
class EngineState::Opening {
 public:
  explicit Opening(EngineState& state) : state_(state) {
    std::unique_lock lock(state_.mutex_);
    state_.opening_ended_.wait(lock, [this] { return !state_.is_opening_; });
    is_needed_ = state_.engine_ == nullptr;
    if (is_needed_) state_.is_opening_ = true;
  }
  ~Opening() {
    if (!is_needed_) return;
    const std::scoped_lock lock(state_.mutex_);
    state_.is_opening_ = false;
    state_.opening_ended_.notify_all();
  }
  Opening(const Opening&) = delete;
  Opening& operator=(const Opening&) = delete;

  /// False: it is open.
  [[nodiscard]] bool is_needed() const { return is_needed_; }

 private:
  EngineState& state_;
  bool is_needed_ = false;
};

EngineState::EngineState(Options options)
    : options_(std::move(options)),
      system_(prepare_system(options_, files_, clock_, this)),
      process_(static_cast<std::uint64_t>(::getpid())),
      listeners_({&stops_, &prompts_}) {}

EngineState::~EngineState() {
  // The threads of a parent do not exist here, and nothing of its engine may be touched.
  if (is_of_parent()) static_cast<void>(engine_.release());
}

bool EngineState::is_of_parent() const {
  return static_cast<std::uint64_t>(::getpid()) != process_;
}

Result<engine::SharedEngine*, EngineError> EngineState::open(const Opening& opening, engine::Settings settings,
                                                             engine::Watched watched,
                                                             std::unique_ptr<inference::Model> model) {
  if (!opening.is_needed()) return engine_.get();
  if (is_stopped_) return failure(engine_was_stopped());
  engine::EngineOptions options;
  options.model_choice = std::move(settings.model);
  options.model = std::move(model);
  if (options_.model) {
    options.model =
        std::make_unique<HostModel>(options_.model->name, options_.model->functions, options_.model->user, this);
  }
  options.watched = watched;
  options.store_choice = options_.store;
  options.functions = options_.functions;
  options.function_hooks = options_.function_hooks;
  options.function_hooks.number_of = [this](std::uint32_t run) { return number_of({run}); };
  options.listener = &listeners_;
  options.extern_threads = options_.extern_threads;
  options.events = engine::EventUse::Collected;
  options.runtime.answers_come_later = true;
  if (options_.memory_bytes_max) options.runtime.memory_bytes_max = *options_.memory_bytes_max;
  auto opened = engine::Engine::open(std::move(options), system_);
  if (!opened) return failure(std::move(opened.error()));
  engine_ = std::make_unique<engine::SharedEngine>(std::move(*opened), [this](engine::Engine& used) {
    stops_.look(used);
    return !stops_.is_empty();
  });
  opened_ = engine_.get();
  return engine_.get();
}

Result<engine::SharedEngine*, EngineError> EngineState::open() {
  if (engine::SharedEngine* const engine = opened_) return engine;
  const Opening opening(*this);
  return open(opening, options_.settings, engine::Watched::Yes);
}

Result<engine::Program, EngineError> EngineState::load(const engine::ProgramSource& source) {
  {
    const Opening opening(*this);
    if (opening.is_needed()) {
      auto first = engine::load(source, options_.settings, system_);
      if (!first) return first;
      if (const auto opened = open(opening, first->settings, engine::Watched::Yes); !opened) {
        return failure(opened.error());
      }
      return first;
    }
  }
  return engine_->call([&](engine::Engine& used) { return used.load(source, options_.settings); });
}

Result<engine::Program, EngineError> EngineState::compile(const engine::ProgramSource& source) const {
  return engine::load_unbound(source, options_.settings, system_);
}

Result<engine::SharedEngine*, EngineError> EngineState::open_for(const std::string& run) {
  engine::Settings settings = options_.settings;
  std::unique_ptr<inference::Model> model;
  const Opening opening(*this);
  if (opening.is_needed() && settings.model.spec.empty() && !options_.model && !options_.store.path.empty()) {
    // The model of the run.
    auto store = engine::open_store(options_.store, engine::StoreUse::ChangeExisting, system_);
    if (!store) return failure(std::move(store.error()));
    auto stored = engine::read_stored_run((*store)->journals(), journal::RunName{run});
    if (!stored) return failure(std::move(stored.error()));
    static_cast<void>(engine::complete_choice(settings.model, stored->started.settings));
    model = engine::open_missing_model(settings.model);
  }
  return open(opening, std::move(settings), engine::Watched::Yes, std::move(model));
}

Result<engine::Program, EngineError> EngineState::load_stored(const std::string& run) {
  auto opened = open_for(run);
  if (!opened) return failure(std::move(opened.error()));
  return (*opened)->call([&](engine::Engine& used) -> Result<engine::Program, EngineError> {
    if (is_stopped_) return failure(engine_was_stopped());
    journal::Store* const store = used.store();
    if (store == nullptr) return failure(EngineError{EngineError::Kind::Conflict, "the engine has no store"});
    const auto stored = engine::read_stored_run(*store, journal::RunName{run});
    if (!stored) return failure(stored.error());
    engine::Settings settings = options_.settings;
    settings.model.spec = used.model_spec();
    engine::complete(settings, std::nullopt);
    auto program = engine::load_stored_program(*stored, {.externs = {settings.externs, settings.provided}}, system_);
    if (!program) return failure(std::move(program.error()));
    runtime::RunOptions options = engine::run_options(settings, std::nullopt);
    return engine::Program{std::move(program->image), std::move(settings), std::move(options), std::nullopt, {}};
  });
}

Result<void, EngineError> EngineState::resume(const std::string& name, std::uint32_t flags,
                                              const std::function<void(engine::Engine&, runtime::RunId)>& use) {
  auto opened = open_for(name);
  if (!opened) return failure(std::move(opened.error()));
  return (*opened)->call([&](engine::Engine& used) -> Result<void, EngineError> {
    if (is_stopped_) return failure(engine_was_stopped());
    used.collect_events((flags & TENON_WITH_EVENTS) != 0);
    auto resumed = used.resume(journal::RunName{name}, options_.settings.externs);
    if (!resumed) return failure(std::move(resumed.error()));
    use(used, *resumed);
    return {};
  });
}

void EngineState::interrupt() {
  if (is_of_parent()) return;
  if (engine::SharedEngine* const engine = opened_; engine != nullptr) engine->interrupt();
}

bool EngineState::stop(std::chrono::milliseconds grace) {
  {
    std::unique_lock lock(mutex_);
    if (std::exchange(is_ending_, true)) return false;
    is_stopped_ = true;
    opening_ended_.wait(lock, [this] { return !is_opening_; });
  }
  const auto note_end = [this] {
    const std::scoped_lock lock(mutex_);
    is_ending_ = false;
  };
  try {
    // Others may use the engine meanwhile.
    if (engine::SharedEngine* const engine = opened_) engine->stop(grace);
  } catch (...) {
    note_end();
    throw;
  }
  note_end();
  return true;
}

std::shared_ptr<RunSlot> EngineState::make_slot(std::uint32_t flags, std::shared_ptr<const vm::LoadedProgram> program,
                                                std::uint64_t number) {
  return std::make_shared<RunSlot>(number == 0 ? reserve_number() : number, flags, std::move(program));
}

void EngineState::begin(const std::shared_ptr<RunSlot>& slot, engine::Engine& engine, runtime::RunId run) {
  slot->id = run;
  if (const journal::RunName* const name = engine.name(run)) slot->name = name->text;
  slot->title = engine.runtime().title(run);
  slot->is_begun = true;
  note_number(run, slot->number);
  if ((slot->flags & TENON_WITH_STOPS) != 0) stops_.watch(slot);
  if ((slot->flags & TENON_WITH_PROMPTS) != 0) prompts_.watch(run);
  if (slot->is_freed) engine.let_go(run);
}

std::uint64_t EngineState::number_of(runtime::RunId run) const {
  const auto found = numbers_.find(run.index);
  return found == numbers_.end() ? 0 : found->second;
}

}  // namespace tenon::library
