#include "library/engine_state.h"

#include <unistd.h>

#include <utility>

#include "engine/process_system.h"
#include "engine/stored_run.h"
#include "library/host_model.h"

namespace tenon::library {

using engine::EngineError;

EngineState::EngineState(Options options)
    : options_(std::move(options)),
      system_(engine::process_system(files_, clock_)),
      process_(static_cast<std::uint64_t>(::getpid())) {
  system_.on_notice = options_.on_notice;
  if (options_.model) options_.settings.model.spec = "own:" + options_.model->name;
  for (const auto& [name, function] : options_.functions) options_.settings.provided.push_back(name);
}

EngineState::~EngineState() {
  // The threads of a parent do not exist here, and nothing of its engine may be touched.
  if (is_of_parent()) static_cast<void>(engine_.release());
}

bool EngineState::is_of_parent() const {
  return static_cast<std::uint64_t>(::getpid()) != process_;
}

engine::SharedEngine* EngineState::engine_or_null() {
  const std::scoped_lock lock(mutex_);
  return engine_.get();
}

Result<engine::SharedEngine*, EngineError> EngineState::open_locked(engine::Settings settings,
                                                                    engine::Watched watched) {
  if (engine_ != nullptr) return engine_.get();
  if (is_stopped_) return failure(EngineError{EngineError::Kind::Conflict, "the engine was stopped"});
  engine::EngineOptions options;
  options.model_choice = std::move(settings.model);
  if (options_.model) {
    options.model = std::make_unique<HostModel>(options_.model->name, options_.model->functions, options_.model->user);
  }
  options.watched = watched;
  options.store_choice = options_.store;
  options.functions = options_.functions;
  options.extern_threads = options_.extern_threads;
  options.events = engine::EventUse::Collected;
  options.runtime.answers_come_later = true;
  if (options_.memory_bytes_max) options.runtime.memory_bytes_max = *options_.memory_bytes_max;
  auto opened = engine::Engine::open(std::move(options), system_);
  if (!opened) return failure(std::move(opened.error()));
  engine_ = std::make_unique<engine::SharedEngine>(std::move(*opened));
  return engine_.get();
}

Result<engine::SharedEngine*, EngineError> EngineState::open() {
  const std::scoped_lock lock(mutex_);
  return open_locked(options_.settings, engine::Watched::Yes);
}

Result<engine::Program, EngineError> EngineState::load(const engine::ProgramSource& source) {
  std::unique_lock lock(mutex_);
  if (engine_ == nullptr) {
    auto first = engine::load(source, options_.settings, system_);
    if (!first) return first;
    if (const auto opened = open_locked(first->settings, engine::Watched::Yes); !opened) {
      return failure(opened.error());
    }
    return first;
  }
  lock.unlock();
  return engine_->call([&](engine::Engine& used) { return used.load(source, options_.settings); });
}

Result<runtime::RunId, EngineError> EngineState::resume(const std::string& name, bool has_events) {
  engine::Settings settings = options_.settings;
  {
    const std::scoped_lock lock(mutex_);
    if (engine_ == nullptr && settings.model.spec.empty() && !options_.model && !options_.store.path.empty()) {
      // The model of the run.
      auto store = engine::open_store(options_.store, engine::StoreUse::ChangeExisting, system_);
      if (!store) return failure(std::move(store.error()));
      auto stored = engine::read_stored_run((*store)->journals(), journal::RunName{name});
      if (!stored) return failure(std::move(stored.error()));
      static_cast<void>(engine::complete_choice(settings.model, stored->started.settings));
    }
    if (const auto opened = open_locked(std::move(settings), engine::Watched::Yes); !opened) {
      return failure(opened.error());
    }
  }
  return engine_->call([&](engine::Engine& used) {
    used.collect_events(has_events);
    return used.resume(journal::RunName{name}, options_.settings.externs);
  });
}

void EngineState::stop(std::chrono::milliseconds grace) {
  const std::scoped_lock lock(mutex_);
  is_stopped_ = true;
  if (engine_ != nullptr) engine_->stop(grace);
}

std::uint64_t EngineState::add_run(runtime::RunId run) {
  return numbers_[run.index] = next_number_++;
}

std::uint64_t EngineState::number_of(runtime::RunId run) const {
  const auto found = numbers_.find(run.index);
  return found == numbers_.end() ? 0 : found->second;
}

}  // namespace tenon::library
