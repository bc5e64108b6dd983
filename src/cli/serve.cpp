#include <fmt/format.h>

#include <filesystem>

#include "cli/commands.h"
#include "cli/engine_report.h"
#include "cli/replace_file.h"
#include "cli/stopping.h"
#include "cli/store_wait.h"
#include "cli/studio.h"
#include "engine/hosting.h"
#include "engine/plans.h"
#include "server/service.h"

namespace tenon::cli {
namespace {

journal::OwnerRole role_of(const ServeCommand& command) {
  return command.is_gateway ? journal::OwnerRole::Gateway : journal::OwnerRole::Host;
}

/// Loads the programs of all files. Returns nothing after printing why one cannot be served, and the exit code in
/// `code`.
std::optional<engine::HostedPrograms> load_programs(const ServeCommand& command, const Environment& environment,
                                                    int& code) {
  engine::HostedPrograms programs(role_of(command));
  for (const std::string& file : command.files) {
    auto warnings = programs.add(file, command.settings, environment.system);
    if (!warnings && command.is_studio && warnings.error().kind == engine::EngineError::Kind::Program) {
      // A person opens the studio to mend them.
      report(warnings.error(), environment);
      warnings = programs.add_empty(file, command.settings, environment.system);
    }
    if (warnings) {
      report(*warnings, environment);
      continue;
    }
    const engine::EngineError& error = warnings.error();
    code = error.kind == engine::EngineError::Kind::Conflict
               ? fail(fmt::format("{} with `--{}`", error.message, error.setting), environment, exit_usage)
               : report(error, environment);
    return std::nullopt;
  }
  return programs;
}

server::Limits limits_of(const ServeCommand& command) {
  server::Limits limits;
  for (const auto& [name, amount] : command.limits) *server::find_limit(limits, name) = amount;
  return limits;
}

/// The token that clients must send; empty if none is required. Returns nothing after printing what is wrong.
std::optional<std::string> read_token(const ServeCommand& command, const Environment& environment) {
  if (command.is_studio) {
    auto token = studio_token(command.settings.store.path);
    if (token) return std::move(*token);
    fail(token.error(), environment);
    return std::nullopt;
  }
  const auto is_loopback = server::is_loopback(command.host);
  if (!is_loopback) {
    fail(fmt::format("invalid value for `--host`: expected an IP address, got `{}`", command.host), environment);
    return std::nullopt;
  }
  if (command.token_variable.empty()) {
    if (*is_loopback) return std::string();
    fail(fmt::format("other machines can reach `--host {}`, so clients must send a token: put one in an "
                     "environment variable and add `--token-env VARIABLE`",
                     command.host),
         environment);
    return std::nullopt;
  }
  std::string token = environment.system.variable(command.token_variable.c_str());
  if (token.empty()) {
    fail(fmt::format("`--token-env`: environment variable {} is unset or empty", command.token_variable), environment);
    return std::nullopt;
  }
  return token;
}

/// The files by name; a number distinguishes files of one name.
server::ProgramFiles program_files(const ServeCommand& command, const Environment& environment) {
  server::ProgramFiles programs;
  for (const std::string& path : command.files) {
    const std::string stem = std::filesystem::path(path).stem().string();
    std::string name = stem;
    for (int number = 2; programs.find(name) != nullptr; ++number) name = fmt::format("{}-{}", stem, number);
    programs.files.push_back({name, path});
  }
  programs.read = [&files = environment.system.files](const std::string& path) -> Result<std::string, std::string> {
    auto text = files.read_file(path, source::source_bytes_max);
    if (!text) return failure(text.error().message);
    return std::move(*text);
  };
  programs.write = [](const std::string& path, std::string_view text) { return replace_file(path, std::string(text)); };
  programs.check = [system = environment.system](const std::string& path, std::string_view text) {
    return engine::find_errors({path, std::string(text)}, system);
  };
  programs.diagnose = [system = environment.system](const std::string& path, std::string_view text) {
    return engine::diagnose(path, std::string(text), system);
  };
  programs.complete = [&files = environment.system.files](const std::string& path, std::string_view text,
                                                          std::size_t offset) {
    return completion::complete(path, text, offset, files);
  };
  programs.explain = [&files = environment.system.files](const std::string& path, std::string_view text,
                                                         std::size_t offset) {
    return completion::find_meaning(path, text, offset, files);
  };
  programs.prompts = [system = environment.system, settings = command.settings](const std::string& path,
                                                                                std::string_view text) {
    return engine::find_prompts({path, std::string(text)}, settings, system);
  };
  programs.plans = [&files = environment.system.files](const std::string& path, std::string_view text) {
    return engine::find_plans(path, text, files);
  };
  programs.load = [system = environment.system, settings = command.settings](const std::string& path) {
    return engine::load({.path = path, .names = engine::ProgramSource::Names::Public}, settings, system);
  };
  return programs;
}

/// Says where the server is, once it accepts requests.
void announce(const ServeCommand& command, std::uint16_t port, const std::string& token,
              const Environment& environment) {
  const bool is_ipv6 = command.host.find(':') != std::string::npos;
  const std::string host = is_ipv6 ? "[" + command.host + "]" : command.host;
  if (!command.is_studio) return environment.write_error(fmt::format("tenon: serving at http://{}:{}\n", host, port));
  const std::string address = fmt::format("http://{}:{}/#token={}", host, port, token);
  environment.write_output("studio at " + address + "\n");
  if (command.opens_browser) open_in_browser(address, command.settings.store.path, environment);
}

}  // namespace

int serve(const ServeCommand& command, const Environment& environment) {
  const server::Limits limits = limits_of(command);
  auto token = read_token(command, environment);
  if (!token) return exit_usage;
  int code = exit_done;
  auto loaded = load_programs(command, environment, code);
  if (!loaded) return code;
  server::Service* listening = nullptr;
  bool is_broken = false;
  engine::EventHub hub(
      limits.queue_bytes, [&](std::string_view message) { fail(message, environment); },
      [&](std::string_view /*message*/) {
        is_broken = true;
        listening->stop();
      },
      [&](const runtime::EffectsInProgress& effects, std::chrono::milliseconds grace) {
        notify_waiting(effects, grace, "the process", environment);
      },
      [&](std::string_view message) { notify(message, environment); });
  engine::HostingOptions options;
  options.store_choice = command.settings.store;
  options.pool = command.pool;
  options.agent = command.agent;
  options.host.role = role_of(command);
  if (command.upgrades_conversations) options.upgrades = engine::ConversationUpgrades::On;
  options.host.runtime.memory_bytes_max = std::uint64_t{limits.memory_mb} << 20U;
  options.host.idle_runs_max = limits.idle_runs;
  StoreWait store_wait(command.store_wait, StoreWait::file_interval, environment);
  options.on_store_in_use = [&store_wait](std::string_view why) { return store_wait.may_try_again(why); };
  const auto hosting = engine::Hosting::open(std::move(*loaded), std::move(options), hub, environment.system);
  if (store_wait.was_stopped()) return exit_code_of_stop(environment);
  if (!hosting) return report(hosting.error(), environment);
  runtime::Host& host = (*hosting)->host();
  const server::ProgramFiles programs = program_files(command, environment);
  server::Service http(**hosting, hub,
                       {.limits = limits,
                        .token = *token,
                        .programs = command.edits ? &programs : nullptr,
                        .studio = command.is_studio ? studio_files() : server::StudioFiles()});
  listening = &http;
  // From here on the service handles the signals; those that came before are not lost.
  if (environment.interrupted->load()) return exit_code_of_stop(environment);
  const auto port = http.listen({command.host, command.port});
  if (!port) {
    return fail(port.error(), environment);
  }
  host.begin();
  announce(command, *port, *token, environment);
  http.run(environment.exit_on_next_signal);
  host.end(std::chrono::seconds(command.settings.grace_seconds));
  return is_broken ? exit_failed : exit_done;
}

}  // namespace tenon::cli
