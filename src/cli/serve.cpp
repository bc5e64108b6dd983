#include <fmt/format.h>

#include <filesystem>
#include <unordered_map>

#include "cli/commands.h"
#include "cli/compile_problem.h"
#include "cli/extern_binding.h"
#include "cli/manifest_file.h"
#include "cli/model_choice.h"
#include "cli/program_file.h"
#include "cli/replace_file.h"
#include "cli/run_setup.h"
#include "cli/secret_key.h"
#include "cli/store_file.h"
#include "cli/telemetry_setup.h"
#include "runtime/host.h"
#include "runtime/migration.h"
#include "server/http_server.h"

namespace tenon::cli {
namespace {

/// What the served files are together.
struct Served {
  server::Catalog catalog;
  std::unordered_map<Hash, std::shared_ptr<const runtime::ProgramImage>> images;
  std::vector<std::shared_ptr<const runtime::ProgramImage>> in_order;  ///< as the files are given
  std::vector<std::string> libraries;  ///< of all files: programs that the store keeps are bound to them
  std::optional<std::uint64_t> threads;
  ModelChoice model;
};

/// An exit code when a file cannot be served, which is printed.
std::optional<int> add_file(const ServeCommand& command, const std::string& file, Served& served,
                            const Environment& environment) {
  RunCommand settings = command.settings;
  settings.file = file;
  const auto manifest = read_manifest(file, environment);
  if (!manifest) return exit_usage;
  if (*manifest) apply_manifest(**manifest, settings);
  if (settings.model.spec.empty()) settings.model.spec = "builtin";
  if (settings.prompts.empty()) settings.prompts = "default";
  const auto program = load_program(file, environment);
  if (!program) return exit_failed;
  auto templates = load_prompt_templates(settings.prompts, environment);
  if (!templates) return exit_usage;
  const auto externs = bind_or_tell(settings.externs, *manifest, *program, environment);
  if (!externs) return exit_failed;
  if (served.model.spec.empty()) served.model = settings.model;
  if (served.model.judge != settings.model.judge) {
    environment.write_error(
        fmt::format("tenon: {}: its manifest wants the judge `{}`, and another file's `{}`; say with --judge which one "
                    "all use\n",
                    file, settings.model.judge, served.model.judge));
    return exit_usage;
  }
  if (served.model.spec != settings.model.spec) {
    environment.write_error(
        fmt::format("tenon: {}: its manifest wants the model `{}`, and another file's `{}`; say "
                    "with --model which one all use\n",
                    file, settings.model.spec, served.model.spec));
    return exit_usage;
  }
  if (*manifest && (*manifest)->threads && !served.threads) served.threads = *(*manifest)->threads;
  const auto image = std::make_shared<const runtime::ProgramImage>(program, std::move(*templates), externs);
  const runtime::RunOptions options = run_options(settings, *manifest);
  served.images.emplace(image->hash(), image);
  served.in_order.push_back(image);
  served.libraries.insert(served.libraries.end(), options.libraries.begin(), options.libraries.end());
  served.catalog.add_program(std::filesystem::path(file).stem().string(), image, options);
  return std::nullopt;
}

/// The program that a run was started with: a served one, or what the store kept of it, bound to the same libraries.
runtime::ImageSource image_source(Served& served) {
  return
      [&served](const Hash& hash,
                std::string_view bundle) -> Result<std::shared_ptr<const runtime::ProgramImage>, runtime::ImageError> {
        if (const auto found = served.images.find(hash); found != served.images.end()) return found->second;
        auto program = runtime::read_bundle(bundle);
        if (!program) return failure(std::move(program.error()));
        const auto externs = bind_externs(served.libraries, std::nullopt, program->loaded->shared_program());
        if (!externs) {
          return failure(runtime::ImageError{
              "an extern of its program is in none of the server's libraries; give the library with --extern"});
        }
        auto image =
            std::make_shared<const runtime::ProgramImage>(program->loaded, std::move(program->templates), *externs);
        served.images.emplace(hash, image);
        return image;
      };
}

/// A served program with the agent: the first of the command line.
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
      environment.write_error(
          limit == nullptr
              ? fmt::format("tenon: --limit {}: there is no such limit; there are: {}\n", name, server::limit_names())
              : fmt::format("tenon: --limit {}: at least 1\n", name));
      return std::nullopt;
    }
    *limit = amount;
  }
  return limits;
}

/// Empty: none is wanted. Nothing when that is not allowed, which is printed.
std::optional<std::string> read_token(const ServeCommand& command, const Environment& environment) {
  const auto is_loopback = server::is_loopback(command.host);
  if (!is_loopback) {
    environment.write_error(fmt::format("tenon: --host {}: this is no IP address\n", command.host));
    return std::nullopt;
  }
  if (command.token_variable.empty()) {
    if (*is_loopback) return std::string();
    environment.write_error(
        fmt::format("tenon: --host {}: others can reach it, so clients must send a token; put one into a variable and "
                    "name that with --token-env\n",
                    command.host));
    return std::nullopt;
  }
  std::string token = environment.variable(command.token_variable.c_str());
  if (token.empty()) {
    environment.write_error(
        fmt::format("tenon: --token-env {}: the variable is not set, or empty\n", command.token_variable));
    return std::nullopt;
  }
  return token;
}

/// Two files of one name are told apart by a number.
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
  programs.check = [&files = environment.files](const std::string& path, std::string_view text) {
    return find_compile_problem(path, text, files);
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
  auto model = open_model(served.model, Watched::Yes, environment);
  if (!model) return model.error();
  auto store = open_store(command.settings.store, StoreUse::Change, environment);
  if (!store) return exit_failed;
  // One for each thread that reads.
  const auto reader = open_store(command.settings.store, StoreUse::Read, environment);
  auto hosts_reader = reader ? open_store(command.settings.store, StoreUse::Read, environment) : nullptr;
  if (!hosts_reader) return exit_failed;
  inference::Model& asked = **model;
  const std::string reports = reports_folder(command.settings.store.reports, command.settings.store.path, environment);
  tools::NativeCallerOptions calling = calling_options(environment, reports, [&asked] { asked.wake(); });
  if (served.threads) calling.threads = static_cast<decltype(calling.threads)>(*served.threads);
  tools::NativeCaller caller(std::move(calling));

  server::ServerCounts counts;
  server::HttpServer* listening = nullptr;
  bool is_broken = false;
  server::EventHub hub(
      limits->queue_bytes,
      [&](std::string_view message) { environment.write_error(fmt::format("tenon: {}\n", message)); },
      [&] {
        is_broken = true;
        listening->stop();
      });
  auto telemetry = Telemetry::open(served.model.spec, environment);
  if (!telemetry) return exit_usage;
  runtime::HostOptions options;
  options.runtime.memory_bytes_max = std::uint64_t{limits->memory_mb} << 20U;
  options.idle_runs_max = limits->idle_runs;
  effects::SecretVault secrets(secret_keys(command.settings.store.path, environment));
  runtime::Host host({.store = std::move(store),
                      .reader = std::move(hosts_reader),
                      .model = asked,
                      .extern_caller = &caller,
                      .clock = environment.clock,
                      .random_unit = environment.random_unit,
                      .images = image_source(served),
                      .observer = hub,
                      .secrets = &secrets,
                      .newest = command.takes_over ? newest_program(served) : runtime::NewestProgram(),
                      .listener = telemetry->listener()},
                     options);
  const server::ProgramFiles programs = program_files(command, environment);
  server::Api api({.host = host,
                   .hub = hub,
                   .store = reader->journals(),
                   .runs = reader->runs(),
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
    environment.write_error(fmt::format("tenon: {}\n", port.error()));
    return exit_failed;
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
