#include "engine/hosting.h"

#include <fmt/format.h>

#include "base/ensure.h"
#include "bytecode/agents.h"
#include "engine/extern_binding.h"
#include "engine/model_choice.h"
#include "engine/secret_key.h"
#include "journal/open_store.h"
#include "runtime/recovery/migration.h"
#include "tools/native/native_caller.h"

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

/// Those of the agents that a program declares.
project::AgentPlacements placements_of(const bytecode::Program& program, project::AgentPlacements placements) {
  std::erase_if(placements, [&](const auto& placed) { return !bytecode::find_agent(program, placed.first); });
  return placements;
}

runtime::HostFailure to_host_failure(const EngineError& error, const std::string& store_file) {
  using Kind = runtime::HostFailure::Kind;
  const Kind kind = error.kind == EngineError::Kind::Usage      ? Kind::WrongInput
                    : error.kind == EngineError::Kind::NotFound ? Kind::NotFound
                    : error.kind == EngineError::Kind::Conflict ? Kind::Conflict
                                                                : Kind::Unavailable;
  const std::string place = error.setting.empty() ? "" : "`" + error.setting + "`: ";
  return {kind, place + without_file(error.message, store_file)};
}

}  // namespace

Result<Problems, EngineError> HostedPrograms::add(const std::string& file, const Settings& settings,
                                                  const System& system) {
  // Failures are values of runs, which clients see.
  const ProgramSource source{.path = file, .names = ProgramSource::Names::Public};
  auto program =
      role_ == journal::OwnerRole::Gateway ? load_unbound(source, settings, system) : load(source, settings, system);
  if (!program) return failure(std::move(program.error()));
  return add(file, std::move(*program));
}

Result<Problems, EngineError> HostedPrograms::add_empty(const std::string& file, const Settings& settings,
                                                        const System& system) {
  auto program = load({.path = file, .text = "", .names = ProgramSource::Names::Public}, settings, system);
  if (!program) return failure(std::move(program.error()));
  return add(file, std::move(*program));
}

Result<Problems, EngineError> HostedPrograms::add(const std::string& file, Program program) {
  const ModelChoice& model = program.settings.model;
  if (model_.spec.empty()) model_ = model;
  if (model_.judge != model.judge) return failure(disagreement("judge", file, model.judge, model_.judge));
  if (model_.spec != model.spec) return failure(disagreement("model", file, model.spec, model_.spec));
  for (auto& [agent, placement] : placements_of(program.code(), std::move(program.placements))) {
    const auto [placed, is_new] = placements_.emplace(agent, placement);
    if (!is_new && placed->second != placement) {
      return failure(EngineError{EngineError::Kind::Conflict,
                                 fmt::format("the manifests disagree: the placement of agent `{}` is another one in "
                                             "that of `{}`; choose one for all programs",
                                             agent, file)});
    }
  }
  if (!threads_) threads_ = program.threads;
  const std::vector<std::string>& libraries = program.options.libraries;
  libraries_.insert(libraries_.end(), libraries.begin(), libraries.end());
  provided_ = program.settings.provided;
  images_.emplace(program.image->hash(), program.image);
  entries_.push_back({file, std::move(program.image), std::move(program.options)});
  return std::move(program.warnings);
}

void HostedPrograms::set_pool(const std::string& pool) {
  for (Entry& entry : entries_) entry.options.pool = pool;
}

runtime::ImageSource HostedPrograms::images(const System& system) {
  return [this, system](
             const Hash& hash,
             std::string_view bundle) -> Result<std::shared_ptr<const runtime::ProgramImage>, runtime::ImageError> {
    if (const auto found = images_.find(hash); found != images_.end()) return found->second;
    auto program = runtime::read_bundle(bundle);
    if (!program) return failure(std::move(program.error()));
    auto image =
        make_bound_image(program->loaded, std::move(program->templates), {libraries_, provided_}, std::nullopt, system);
    if (!image) {
      return failure(runtime::ImageError{
          .message =
              "the server's libraries do not define an extern of its program; add the library (setting `extern`)",
          .is_of_process = true});
    }
    images_.emplace(hash, *image);
    return *image;
  };
}

std::optional<EngineError> HostedPrograms::find_extern_problem(const vm::LoadedProgram& program,
                                                               const System& system) const {
  const auto bound = bind_externs({libraries_, provided_}, std::nullopt, program.shared_program(), system);
  if (bound) return std::nullopt;
  return EngineError{EngineError::Kind::Program, {}, {}, problems_of(bound.error(), program)};
}

runtime::StartResolver HostedPrograms::resolver() const {
  return [this](const runtime::StartRun& wanted) -> Result<runtime::RunStart, std::string> {
    for (const auto& [file, image, options] : entries_) {
      if (image->hash() != wanted.program) continue;
      runtime::RunStart start{.image = image, .options = options};
      if (!wanted.agent.empty()) {
        start.agent = bytecode::find_agent(image->program(), wanted.agent);
        if (start.agent) return start;
      } else if (const auto function = runtime::find_function(image->program(), wanted.function)) {
        start.function = *function;
        return start;
      }
    }
    return failure(
        fmt::format("no host has the version of the program of `{}` that the server has which was asked; deploy the "
                    "same files to all",
                    wanted.agent.empty() ? wanted.function : wanted.agent));
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

namespace {

runtime::AgentPools pools_of(const HostedPrograms& programs, const HostingOptions& options) {
  std::map<std::string, std::string, std::less<>> agents;
  for (const auto& [agent, placement] : programs.placements()) {
    agents.emplace(agent, runtime::AgentPools::name_of(options.pool, agent));
  }
  std::string here = options.agent.empty() ? options.pool : agents.at(options.agent);
  return {options.pool, std::move(here), std::move(agents)};
}

StoreChoice for_readers(StoreChoice choice) {
  choice.patience = reader_patience;
  return choice;
}

std::unique_ptr<tools::ExternCaller> make_caller(HostingOptions& options, tools::NativeCallerOptions native,
                                                 inference::Model& model) {
  std::function<bool()> may_begin = native.may_begin;
  auto caller = std::make_unique<tools::NativeCaller>(std::move(native));
  if (options.functions.empty()) return caller;
  return std::make_unique<tools::ProvidedFunctions>(
      std::move(options.functions), std::move(options.function_hooks), std::move(caller), [&model] { model.wake(); },
      std::move(may_begin));
}

}  // namespace

Result<std::unique_ptr<Hosting>, EngineError> Hosting::open(HostedPrograms programs, HostingOptions options,
                                                            runtime::HostObserver& observer, const System& system) {
  ENSURE(!programs.entries().empty());
  if (options.host.role == journal::OwnerRole::Gateway) options.model = open_no_model();
  if (options.model == nullptr) {
    auto model = open_model(programs.model(), Watched::Yes, system);
    if (!model) return failure(std::move(model.error()));
    options.model = std::move(*model);
  }
  if (!options.agent.empty() && !programs.placements().contains(options.agent)) {
    return failure(EngineError{EngineError::Kind::Usage,
                               fmt::format("agent `{}` has no hosts of its own; write `[agents.{}]` with "
                                           "`placement = \"actor\"` in the manifest",
                                           options.agent, options.agent),
                               "agent"});
  }
  const runtime::AgentPools pools = pools_of(programs, options);
  programs.set_pool(options.pool);
  StoreChoice owners_choice = options.store_choice;
  owners_choice.role = options.host.role;
  owners_choice.pool = pools.here();
  auto owner = open_store(owners_choice, StoreUse::Change, system);
  while (!owner && owner.error().kind == EngineError::Kind::InUse && options.on_store_in_use &&
         options.on_store_in_use(owner.error().message)) {
    owner = open_store(owners_choice, StoreUse::Change, system);
  }
  if (!owner) return failure(std::move(owner.error()));
  if (!(*owner)->ownership().is_sole()) {
    options.host.runtime.pools = pools;
  } else if (!options.agent.empty()) {
    return failure(EngineError{EngineError::Kind::Usage,
                               "this store has one owner at a time, which continues all runs; use a PostgreSQL store",
                               "agent"});
  }
  auto reader = open_store(for_readers(options.store_choice), StoreUse::Read, system);
  if (!reader) return failure(std::move(reader.error()));
  auto hosts_reader = open_store(options.store_choice, StoreUse::Read, system);
  if (!hosts_reader) return failure(std::move(hosts_reader.error()));
  auto telemetry = Telemetry::open(programs.model().spec, system);
  if (!telemetry) return failure(std::move(telemetry.error()));
  Parts parts{std::move(programs), std::move(*owner), std::move(*reader), std::move(*hosts_reader),
              std::move(*telemetry)};
  return std::unique_ptr<Hosting>(new Hosting(std::move(parts), std::move(options), observer, system));
}

Hosting::Hosting(Parts parts, HostingOptions options, runtime::HostObserver& observer, const System& system)
    : programs_(std::move(parts.programs)),
      model_(std::move(options.model)),
      store_(std::move(parts.owner), std::move(parts.hosts_reader)),
      reader_(std::move(parts.reader)),
      readers_choice_(for_readers(options.store_choice)),
      store_file_(journal::file_of_store(options.store_choice.path).value_or(options.store_choice.path)),
      pool_(options.pool),
      system_(system),
      reports_(reports_folder(options.store_choice.reports, options.store_choice.path, system)),
      caller_(make_caller(options,
                          calling_options(
                              system, reports_, options.extern_threads ? options.extern_threads : programs_.threads(),
                              [&model = *model_] { model.wake(); }, begins_under_lease(&store_.owner())),
                          *model_)),
      telemetry_(std::move(parts.telemetry)),
      secrets_(secret_keys(options.store_choice.path, system)),
      host_({.store = store_,
             .model = *model_,
             .extern_caller = caller_.get(),
             .clock = system.clock,
             .random_unit = system.random_unit,
             .images = programs_.images(system),
             .observer = observer,
             .secrets = &secrets_,
             .resolve = programs_.resolver(),
             .newest = options.upgrades == ConversationUpgrades::On ? programs_.newest() : runtime::NewestProgram(),
             .listener = telemetry_.listener()},
            options.host) {
  if (auto may_begin = begins_under_lease(&store_.owner())) model_->begin_only_while(std::move(may_begin));
}

void Hosting::fork(ForkChoice choice, runtime::RequestKey key, runtime::OnReply reply) {
  const auto make = [this, choice = std::move(choice)](
                        journal::Store& store,
                        const journal::RunName& name) -> Result<journal::Append, runtime::HostFailure> {
    auto prepared = prepare_fork(store, name, choice, store_file_, system_);
    if (!prepared) return failure(to_host_failure(prepared.error(), store_file_));
    prepared->append.pool = pool_;
    return std::move(prepared->append);
  };
  host_.add(make, std::move(key), std::move(reply));
}

}  // namespace tenon::engine
