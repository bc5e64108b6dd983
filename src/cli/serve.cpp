#include <fmt/format.h>

#include <filesystem>
#include <unordered_map>

#include "cli/commands.h"
#include "cli/engine_report.h"
#include "cli/replace_file.h"
#include "engine/extern_binding.h"
#include "engine/model_choice.h"
#include "engine/program.h"
#include "engine/secret_key.h"
#include "engine/store_access.h"
#include "engine/telemetry_setup.h"
#include "journal/async_store.h"
#include "runtime/host/host.h"
#include "runtime/recovery/migration.h"
#include "server/http_server.h"

namespace tenon::cli {
namespace {

/// All served programs, and the settings that they share.
struct Served {
  server::Catalog catalog;
  std::unordered_map<Hash, std::shared_ptr<const runtime::ProgramImage>> images;
  std::vector<std::shared_ptr<const runtime::ProgramImage>> in_order;  ///< in the order of the command line
  std::vector<std::string> libraries;  ///< of all files: the stored programs are bound to them
  std::optional<std::uint32_t> threads;
  ModelChoice model;
};

/// Returns an exit code if the file cannot be served, after printing why.
std::optional<int> add_file(const ServeCommand& command, const std::string& file, Served& served,
                            const Environment& environment) {
  auto program = engine::load({file}, command.settings, make_system(environment));
  if (!program) return report(program.error(), environment);
  report(program->warnings, environment);
  const engine::Settings& settings = program->settings;
  if (served.model.spec.empty()) served.model = settings.model;
  if (served.model.judge != settings.model.judge) {
    return fail(
        fmt::format("the manifests disagree: the judge of `{}` is `{}`, that of another program `{}`; choose one "
                    "for all programs with `--judge`",
                    file, settings.model.judge, served.model.judge),
        environment, exit_usage);
  }
  if (served.model.spec != settings.model.spec) {
    return fail(
        fmt::format("the manifests disagree: the model of `{}` is `{}`, that of another program `{}`; choose one "
                    "for all programs with `--model`",
                    file, settings.model.spec, served.model.spec),
        environment, exit_usage);
  }
  if (program->threads && !served.threads) served.threads = program->threads;
  const auto& libraries = program->options.libraries;
  served.images.emplace(program->image->hash(), program->image);
  served.in_order.push_back(program->image);
  served.libraries.insert(served.libraries.end(), libraries.begin(), libraries.end());
  served.catalog.add_program(std::filesystem::path(file).stem().string(), program->image, program->options);
  return std::nullopt;
}

/// The program that a run was started with: a served one, or the store's copy bound to the same libraries.
runtime::ImageSource image_source(Served& served, const engine::System& system) {
  return [&served, system](
             const Hash& hash,
             std::string_view bundle) -> Result<std::shared_ptr<const runtime::ProgramImage>, runtime::ImageError> {
    if (const auto found = served.images.find(hash); found != served.images.end()) return found->second;
    auto program = runtime::read_bundle(bundle);
    if (!program) return failure(std::move(program.error()));
    auto image = engine::make_bound_image(program->loaded, std::move(program->templates), {served.libraries},
                                          std::nullopt, system);
    if (!image) {
      return failure(runtime::ImageError{
          "the server's libraries do not define an extern of its program; add the library with `--extern`"});
    }
    served.images.emplace(hash, *image);
    return *image;
  };
}

/// The first served program of the command line that declares the agent.
runtime::NewestProgram newest_program(const Served& served) {
  return [&served](std::string_view agent) -> runtime::NewestImage {
    for (const auto& image : served.in_order) {
      if (runtime::find_agent(image->program(), agent)) return {image, served.libraries};
    }
    return {};
  };
}

std::optional<server::Limits> read_limits(const ServeCommand& command, const Environment& environment) {
  server::Limits limits;
  for (const auto& [name, amount] : command.limits) {
    std::size_t* const limit = server::find_limit(limits, name);
    if (limit == nullptr || amount == 0) {
      fail(limit == nullptr ? fmt::format("unknown limit `{}`; the limits are {}", name, server::limit_names())
                            : fmt::format("invalid value for `--limit {}`: expected a number of at least 1", name),
           environment);
      return std::nullopt;
    }
    *limit = amount;
  }
  return limits;
}

/// The token that clients must send; empty if none is required. Returns nothing after printing what is wrong.
std::optional<std::string> read_token(const ServeCommand& command, const Environment& environment) {
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
  std::string token = environment.variable(command.token_variable.c_str());
  if (token.empty()) {
    fail(fmt::format("`--token-env`: the environment variable {} is not set or empty", command.token_variable),
         environment);
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
  programs.read = [&files = environment.files](const std::string& path) -> Result<std::string, std::string> {
    auto text = files.read_file(path, source::source_bytes_max);
    if (!text) return failure(text.error().message);
    return std::move(*text);
  };
  programs.write = [](const std::string& path, std::string_view text) { return replace_file(path, std::string(text)); };
  programs.check = [system = make_system(environment)](const std::string& path, std::string_view text) {
    return engine::find_errors({path, std::string(text)}, system);
  };
  return programs;
}

}  // namespace

int serve(const ServeCommand& command, const Environment& environment) {
  const auto limits = read_limits(command, environment);
  if (!limits) return exit_usage;
  auto token = read_token(command, environment);
  if (!token) return exit_usage;
  Served served;
  for (const std::string& file : command.files) {
    if (const auto code = add_file(command, file, served, environment)) return *code;
  }
  const engine::System system = make_system(environment);
  auto model = engine::open_model(served.model, engine::Watched::Yes, system);
  if (!model) return report(model.error(), environment);
  using engine::StoreUse;
  auto store = engine::open_store(command.settings.store, StoreUse::Change, system);
  if (!store) return report(store.error(), environment);
  // One store connection for each thread that reads.
  const auto reader = engine::open_store(command.settings.store, StoreUse::Read, system);
  if (!reader) return report(reader.error(), environment);
  auto hosts_reader = engine::open_store(command.settings.store, StoreUse::Read, system);
  if (!hosts_reader) return report(hosts_reader.error(), environment);
  journal::ThreadedStore hosts_store(std::move(*store), std::move(*hosts_reader));
  inference::Model& asked = **model;
  const std::string reports =
      engine::reports_folder(command.settings.store.reports, command.settings.store.path, system);
  tools::NativeCallerOptions calling = engine::calling_options(system, reports, [&asked] { asked.wake(); });
  if (served.threads) calling.threads = *served.threads;
  tools::NativeCaller caller(std::move(calling));

  server::ServerCounts counts;
  server::HttpServer* listening = nullptr;
  bool is_broken = false;
  server::EventHub hub(
      limits->queue_bytes, [&](std::string_view message) { fail(message, environment); },
      [&] {
        is_broken = true;
        listening->stop();
      });
  auto telemetry = engine::Telemetry::open(served.model.spec, system);
  if (!telemetry) return report(telemetry.error(), environment);
  runtime::HostOptions options;
  options.runtime.memory_bytes_max = std::uint64_t{limits->memory_mb} << 20U;
  options.idle_runs_max = limits->idle_runs;
  effects::SecretVault secrets(engine::secret_keys(command.settings.store.path, system));
  runtime::Host host({.store = hosts_store,
                      .model = asked,
                      .extern_caller = &caller,
                      .clock = environment.clock,
                      .random_unit = environment.random_unit,
                      .images = image_source(served, system),
                      .observer = hub,
                      .secrets = &secrets,
                      .newest = command.upgrades_conversations ? newest_program(served) : runtime::NewestProgram(),
                      .listener = telemetry->listener()},
                     options);
  const server::ProgramFiles programs = program_files(command, environment);
  server::Api api({.host = host,
                   .hub = hub,
                   .store = (*reader)->journals(),
                   .runs = (*reader)->runs(),
                   .catalog = served.catalog,
                   .limits = *limits,
                   .counts = counts,
                   .spans = telemetry->counts(),
                   .token = std::move(*token),
                   .model = served.model.spec,
                   .reports = reports,
                   .programs = command.edits ? &programs : nullptr});
  server::HttpServer http(api, *limits, counts);
  listening = &http;
  const auto port = http.listen({command.host, command.port});
  if (!port) {
    return fail(port.error(), environment);
  }
  host.begin();
  const bool is_ipv6 = command.host.find(':') != std::string::npos;
  environment.write_error(
      fmt::format("tenon: serving at http://{}{}{}:{}\n", is_ipv6 ? "[" : "", command.host, is_ipv6 ? "]" : "", *port));
  http.run(environment.exit_on_next_signal);
  host.end(std::chrono::seconds(command.settings.grace_seconds));
  return is_broken ? exit_failed : exit_done;
}

}  // namespace tenon::cli
