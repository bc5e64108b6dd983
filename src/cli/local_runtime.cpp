#include "cli/local_runtime.h"

#include <fmt/format.h>

#include <chrono>

#include "cli/extern_binding.h"
#include "cli/secret_key.h"

namespace tenon::cli {

LocalRuntime::LocalRuntime(Parts parts, const Environment& environment)
    : environment_(environment),
      parts_(std::move(parts)),
      person_(environment),
      secrets_(secret_keys(parts_.store_path, environment)),
      caller_(calling()),
      runtime_({.model = *parts_.model,
                .extern_caller = &caller_,
                .clock = environment.clock,
                .listener = listener(),
                .random_unit = environment.random_unit,
                .store = parts_.store ? &parts_.store->journals() : nullptr,
                .committer = !parts_.store ? nullptr
                                           : &committer_.emplace(parts_.store->journals(),
                                                                 [this] {
                                                                   parts_.model->wake();
                                                                   caller_.wake();
                                                                 }),
                .prompter = &person_,
                .secrets = &secrets_},
               parts_.options) {}

runtime::Listener* LocalRuntime::listener() {
  runtime::Listener* shown = parts_.trace.get();
  if (parts_.shown != ShownAnswers::WhenWhole) {
    const bool shows_pieces = parts_.shown == ShownAnswers::AsWritten;
    shown =
        &view_.emplace(*parts_.trace, environment_, shows_pieces ? ChatView::Pieces::Shown : ChatView::Pieces::Hidden);
  }
  return parts_.telemetry ? parts_.telemetry->listen_with(shown) : shown;
}

tools::NativeCallerOptions LocalRuntime::calling() const {
  tools::NativeCallerOptions options =
      calling_options(environment_, parts_.reports, [&model = *parts_.model] { model.wake(); });
  if (parts_.threads) options.threads = *parts_.threads;
  return options;
}

std::optional<journal::RunName> LocalRuntime::make_name() const {
  if (!parts_.store) return std::nullopt;
  const auto now = environment_.clock.wall().time_since_epoch();
  auto name = journal::make_run_name(std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
  notify(fmt::format("run {}", name.text), environment_);
  return name;
}

}  // namespace tenon::cli
