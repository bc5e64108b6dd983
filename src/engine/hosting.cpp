#include "engine/hosting.h"

#include <fmt/format.h>

#include "base/ensure.h"
#include "bytecode/agents.h"
#include "engine/extern_binding.h"
#include "engine/model_choice.h"
#include "engine/secret_key.h"
#include "runtime/recovery/migration.h"

namespace tenon::engine {
namespace {

EngineError disagreement(std::string_view setting, const std::string& file, const std::string& chosen,
                         const std::string& other) {
  return {EngineError::Kind::Conflict,
          fmt::format("the manifests disagree: the {} of `{}` is `{}`, that of another program `{}`; choose one for "
                      "all programs",
                      setting, file, chosen, other),
          std::string(setting)};
}

}  // namespace

Result<Problems, EngineError> HostedPrograms::add(const std::string& file, const Settings& settings,
                                                  const System& system) {
  auto program = load({file}, settings, system);
  if (!program) return failure(std::move(program.error()));
  const ModelChoice& model = program->settings.model;
  if (model_.spec.empty()) model_ = model;
  if (model_.judge != model.judge) return failure(disagreement("judge", file, model.judge, model_.judge));
  if (model_.spec != model.spec) return failure(disagreement("model", file, model.spec, model_.spec));
  if (!threads_) threads_ = program->threads;
  const std::vector<std::string>& libraries = program->options.libraries;
  libraries_.insert(libraries_.end(), libraries.begin(), libraries.end());
  images_.emplace(program->image->hash(), program->image);
  entries_.push_back({file, std::move(program->image), std::move(program->options)});
  return std::move(program->warnings);
}

runtime::ImageSource HostedPrograms::images(const System& system) {
  return [this, system](
             const Hash& hash,
             std::string_view bundle) -> Result<std::shared_ptr<const runtime::ProgramImage>, runtime::ImageError> {
    if (const auto found = images_.find(hash); found != images_.end()) return found->second;
    auto program = runtime::read_bundle(bundle);
    if (!program) return failure(std::move(program.error()));
    auto image = make_bound_image(program->loaded, std::move(program->templates), {libraries_}, std::nullopt, system);
    if (!image) {
      return failure(runtime::ImageError{
          "the server's libraries do not define an extern of its program; add the library (setting `extern`)"});
    }
    images_.emplace(hash, *image);
    return *image;
  };
}

runtime::NewestProgram HostedPrograms::newest() const {
  return [this](std::string_view agent) -> runtime::NewestImage {
    for (const Entry& entry : entries_) {
      if (bytecode::find_agent(entry.image->program(), agent)) return {entry.image, libraries_};
    }
    return {};
  };
}

Result<std::unique_ptr<Hosting>, EngineError> Hosting::open(HostedPrograms programs, const HostingOptions& options,
                                                            runtime::HostObserver& observer, const System& system) {
  ENSURE(!programs.entries().empty());
  auto model = open_model(programs.model(), Watched::Yes, system);
  if (!model) return failure(std::move(model.error()));
  auto owner = open_store(options.store_choice, StoreUse::Change, system);
  if (!owner) return failure(std::move(owner.error()));
  auto reader = open_store(options.store_choice, StoreUse::Read, system);
  if (!reader) return failure(std::move(reader.error()));
  auto hosts_reader = open_store(options.store_choice, StoreUse::Read, system);
  if (!hosts_reader) return failure(std::move(hosts_reader.error()));
  auto telemetry = Telemetry::open(programs.model().spec, system);
  if (!telemetry) return failure(std::move(telemetry.error()));
  Parts parts{std::move(programs), std::move(*model),        std::move(*owner),
              std::move(*reader),  std::move(*hosts_reader), std::move(*telemetry)};
  return std::unique_ptr<Hosting>(new Hosting(std::move(parts), options, observer, system));
}

Hosting::Hosting(Parts parts, const HostingOptions& options, runtime::HostObserver& observer, const System& system)
    : programs_(std::move(parts.programs)),
      model_(std::move(parts.model)),
      reader_(std::move(parts.reader)),
      store_(std::move(parts.owner), std::move(parts.hosts_reader)),
      reports_(reports_folder(options.store_choice.reports, options.store_choice.path, system)),
      caller_(calling_options(system, reports_, programs_.threads(), [&model = *model_] { model.wake(); })),
      telemetry_(std::move(parts.telemetry)),
      secrets_(secret_keys(options.store_choice.path, system)),
      host_({.store = store_,
             .model = *model_,
             .extern_caller = &caller_,
             .clock = system.clock,
             .random_unit = system.random_unit,
             .images = programs_.images(system),
             .observer = observer,
             .secrets = &secrets_,
             .newest = options.upgrades == ConversationUpgrades::On ? programs_.newest() : runtime::NewestProgram(),
             .listener = telemetry_.listener()},
            options.host) {}

}  // namespace tenon::engine
