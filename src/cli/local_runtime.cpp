#include "cli/local_runtime.h"

#include <fmt/format.h>

#include <chrono>

namespace tenon::cli {

LocalRuntime::LocalRuntime(Parts parts, const Environment& environment)
    : environment_(environment),
      parts_(std::move(parts)),
      person_(environment),
      caller_(calling()),
      runtime_({.model = *parts_.model,
                .extern_caller = &caller_,
                .clock = environment.clock,
                .listener = parts_.telemetry ? parts_.telemetry->listen_with(parts_.trace.get()) : parts_.trace.get(),
                .random_unit = environment.random_unit,
                .store = parts_.store.get(),
                .committer = !parts_.store ? nullptr
                                           : &committer_.emplace(*parts_.store,
                                                                 [this] {
                                                                   parts_.model->wake();
                                                                   caller_.wake();
                                                                 }),
                .person = &person_},
               parts_.options) {}

tools::NativeCallerOptions LocalRuntime::calling() const {
  tools::NativeCallerOptions options;
  options.notify = [&model = *parts_.model] { model.wake(); };
  if (parts_.threads) options.threads = *parts_.threads;
  return options;
}

std::optional<journal::RunName> LocalRuntime::make_name() const {
  if (!parts_.store) return std::nullopt;
  const auto now = environment_.clock.wall().time_since_epoch();
  auto name = journal::make_run_name(std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
  environment_.write_error(fmt::format("tenon: run {}\n", name.text));
  return name;
}

}  // namespace tenon::cli
