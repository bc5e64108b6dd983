#include "cli/terminal_engine.h"

#include <fmt/format.h>

#include <chrono>
#include <exception>
#include <utility>

#include "cli/engine_report.h"

namespace tenon::cli {

Result<std::unique_ptr<TerminalEngine>, engine::EngineError> TerminalEngine::open(engine::EngineOptions options,
                                                                                  std::unique_ptr<Trace> trace,
                                                                                  ShownAnswers shown,
                                                                                  const Environment& environment) {
  std::unique_ptr<TerminalEngine> made(new TerminalEngine(std::move(trace), environment));
  runtime::Listener* listener = made->trace_.get();
  if (shown != ShownAnswers::WhenWhole) {
    const bool shows_pieces = shown == ShownAnswers::AsWritten;
    listener = &made->view_.emplace(*made->trace_, environment,
                                    shows_pieces ? ChatView::Pieces::Shown : ChatView::Pieces::Hidden);
  }
  options.listener = &made->new_runs_.emplace(*listener, *made);
  options.prompter = &made->person_;
  auto engine = engine::Engine::open(std::move(options), environment.system);
  if (!engine) return failure(std::move(engine.error()));
  made->engine_ = std::move(*engine);
  return made;
}

TerminalEngine::~TerminalEngine() {
  // After a BrokenCondition the engine is in an unknown state.
  if (engine_ != nullptr && std::uncaught_exceptions() == 0) engine_->stop(std::chrono::milliseconds{0});
}

void TerminalEngine::NewRuns::on_recorded(const runtime::RecordBatch& batch) {
  const journal::RunName* const name = batch.first == 1 ? shown_.engine_->name(batch.run) : nullptr;
  if (name != nullptr) notify(fmt::format("run {}", name->text), shown_.environment_);
  Listeners::on_recorded(batch);
}

engine::Watched watched_by(const Environment& environment, const bytecode::Program& program) {
  return engine::watched_by(program, environment.error_is_terminal ? engine::Watched::Yes : engine::Watched::No);
}

}  // namespace tenon::cli
