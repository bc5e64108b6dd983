#include "cli/terminal_engine.h"

#include <fmt/format.h>

#include <utility>

#include "cli/engine_report.h"

namespace tenon::cli {

Result<std::unique_ptr<TerminalEngine>, engine::EngineError> TerminalEngine::open(engine::EngineOptions options,
                                                                                  std::unique_ptr<Trace> trace,
                                                                                  ShownAnswers shown,
                                                                                  const Environment& environment) {
  std::unique_ptr<TerminalEngine> made(new TerminalEngine(std::move(trace), environment));
  options.listener = made->trace_.get();
  if (shown != ShownAnswers::WhenWhole) {
    const bool shows_pieces = shown == ShownAnswers::AsWritten;
    options.listener = &made->view_.emplace(*made->trace_, environment,
                                            shows_pieces ? ChatView::Pieces::Shown : ChatView::Pieces::Hidden);
  }
  options.prompter = &made->person_;
  auto engine = engine::Engine::open(std::move(options), environment.system);
  if (!engine) return failure(std::move(engine.error()));
  made->engine_ = std::move(*engine);
  return made;
}

void TerminalEngine::print_name(runtime::RunId run) const {
  if (const journal::RunName* const name = engine_->name(run)) notify(fmt::format("run {}", name->text), environment_);
}

engine::Watched watched_by(const Environment& environment, const bytecode::Program& program) {
  return engine::watched_by(program, environment.error_is_terminal ? engine::Watched::Yes : engine::Watched::No);
}

}  // namespace tenon::cli
