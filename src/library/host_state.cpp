#include "library/host_state.h"

#include <unistd.h>

#include <utility>

#include "base/abandon.h"
#include "base/signal_free_thread.h"
#include "engine/program.h"
#include "json/json.h"
#include "library/host_model.h"
#include "library/program_description.h"

namespace tenon::library {

using engine::EngineError;

namespace {

std::string_view name_of(journal::LeaseState lease) {
  switch (lease) {
    case journal::LeaseState::Held:
      return "held";
    case journal::LeaseState::Suspended:
      return "suspended";
    case journal::LeaseState::Lost:
      return "lost";
  }
  return "";
}

std::string describe(const engine::HostedPrograms& programs) {
  std::string text = "[";
  for (const auto& [file, image, options] : programs.entries()) {
    if (text.size() > 1) text += ',';
    text += "{\"file\":" + Json(file).dump() + ",\"program\":" + describe_program(image->program()).dump() + '}';
  }
  return text + ']';
}

std::string describe_placements(const engine::HostedPrograms& programs, const std::string& pool) {
  Json list = Json::array();
  for (const auto& [agent, needs] : programs.placements()) {
    Json resources = Json::object();
    for (const auto& [name, amount] : needs.resources) resources.set(name, amount);
    const auto amount_of = [](const std::optional<double>& amount) { return amount ? Json(*amount) : Json(); };
    list.push_back(Json::object({{"agent", agent},
                                 {"pool", runtime::AgentPools::name_of(pool, agent)},
                                 {"num_cpus", amount_of(needs.num_cpus)},
                                 {"num_gpus", amount_of(needs.num_gpus)},
                                 {"resources", std::move(resources)}}));
  }
  return list.dump();
}

}  // namespace

HostState::HostState(Options options)
    : options_(std::move(options)),
      system_(prepare_system(options_, files_, clock_, this)),
      process_(static_cast<std::uint64_t>(::getpid())),
      hub_(
          server::Limits{}.queue_bytes,
          [this](std::string_view message) { system_.notify(engine::NoticeKind::Warning, std::string(message)); },
          [this](std::string_view message) { note_broken(message); }) {}

HostState::~HostState() {
  if (is_of_parent()) {  // its threads do not exist here
    tenon::abandon(service_thread_);
    tenon::abandon(service_);
    tenon::abandon(reader_);
    tenon::abandon(hosting_);
    return;
  }
  try {
    static_cast<void>(stop(std::chrono::milliseconds{0}));
  } catch (...) {
    // There is no one left to report it to.
  }
}

bool HostState::is_of_parent() const {
  return static_cast<std::uint64_t>(::getpid()) != process_;
}

std::optional<std::string> HostState::broken() const {
  const std::scoped_lock lock(broken_mutex_);
  return broken_;
}

void HostState::note_broken(std::string_view why) {
  const std::scoped_lock lock(broken_mutex_);
  broken_ = why;
  for (Awaited* const awaited : awaited_) awaited->give_up();
}

void HostState::expect(Awaited& awaited) {
  const std::scoped_lock lock(broken_mutex_);
  awaited_.insert(&awaited);
  if (broken_) awaited.give_up();
}

void HostState::forget(Awaited& awaited) {
  const std::scoped_lock lock(broken_mutex_);
  awaited_.erase(&awaited);
}

Result<engine::HostedPrograms, EngineError> HostState::load(journal::OwnerRole role,
                                                            const std::vector<std::string>& files) const {
  engine::HostedPrograms programs(role);
  for (const std::string& file : files) {
    if (const auto added = programs.add(file, options_.settings, system_); !added) return failure(added.error());
  }
  return programs;
}

Result<void, EngineError> HostState::open(journal::OwnerRole role, const std::vector<std::string>& files) {
  if (options_.store.path.empty()) {
    return failure(EngineError{EngineError::Kind::Usage, "a host needs a store", "store"});
  }
  if (files.empty()) return failure(EngineError{EngineError::Kind::Usage, "a host needs a program"});
  auto programs = load(role, files);
  if (!programs) return failure(std::move(programs.error()));
  engine::HostingOptions options;
  options.store_choice = options_.store;
  options.pool = options_.pool;
  options.agent = options_.agent;
  options.host.role = role;
  if (role == journal::OwnerRole::Host && options_.model) {
    options.model =
        std::make_unique<HostModel>(options_.model->name, options_.model->functions, options_.model->user, this);
  }
  options.functions = options_.functions;
  options.function_hooks = options_.function_hooks;
  note_callbacks(options.functions, options.function_hooks, this);
  options.extern_threads = options_.extern_threads;
  if (options_.memory_bytes_max) options.host.runtime.memory_bytes_max = *options_.memory_bytes_max;
  auto hosting = engine::Hosting::open(std::move(*programs), std::move(options), hub_, system_);
  if (!hosting) return failure(std::move(hosting.error()));
  auto reader = engine::open_store(options_.store, engine::StoreUse::Read, system_);
  if (!reader) return failure(std::move(reader.error()));
  hosting_ = std::move(*hosting);
  for (const engine::HostedPrograms::Entry& entry : hosting_->programs().entries()) {
    catalog_.add_program(entry.file, entry.image, entry.options);
  }
  reader_ = std::move(*reader);
  description_ = describe(hosting_->programs());
  placements_ = describe_placements(hosting_->programs(), options_.pool);
  hub_.watch_others(hosting_->wakeups());
  hub_.catch_up_by([&host = hosting_->host()](const journal::RunName& run) { host.repeat_text(run); });
  return {};
}

bool HostState::begin() {
  const std::scoped_lock lock(begin_mutex_);
  if (is_stopped_ || std::exchange(has_begun_, true)) return false;
  hosting_->host().begin();
  return true;
}

bool HostState::stop(std::chrono::milliseconds grace) {
  {
    const std::scoped_lock lock(begin_mutex_);
    is_stopped_ = true;
    if (is_ending_) return false;
    if (has_ended_ || hosting_ == nullptr) return true;
    is_ending_ = true;
  }
  const auto note_end = [this](bool has_ended) {
    const std::scoped_lock lock(begin_mutex_);
    has_ended_ = has_ended;
    is_ending_ = false;
  };
  try {
    end(grace);
  } catch (...) {
    note_end(false);
    throw;
  }
  note_end(true);
  return true;
}

/// By one thread at a time, and without a lock: functions of the embedding program are called and waited for.
void HostState::end(std::chrono::milliseconds grace) {
  {
    const std::scoped_lock wakers_lock(wakers_mutex_);
    for (const Waker* const waker : wakers_) waker->wake();
  }
  if (service_ != nullptr) {
    service_->stop();
    if (service_thread_->joinable()) service_thread_->join();
    service_.reset();
  }
  if (has_begun_) hosting_->host().end(grace);
  close_store();
}

/// Other processes may continue its runs from now on.
void HostState::close_store() {
  hub_.forget_others();
  std::unique_ptr<engine::Hosting> ended;  // closed without the lock, as it calls functions of the embedding program
  const std::unique_lock lock(hosting_mutex_);
  last_status_ = make_status(*hosting_);
  ended = std::move(hosting_);
}

void HostState::add_waker(const Waker& waker) {
  const std::scoped_lock lock(wakers_mutex_);
  wakers_.insert(&waker);
}

void HostState::remove_waker(const Waker& waker) {
  const std::scoped_lock lock(wakers_mutex_);
  wakers_.erase(&waker);
}

std::string HostState::status() {
  return with_hosting(
      [this](engine::Hosting* hosting) { return hosting == nullptr ? last_status_ : make_status(*hosting); });
}

std::string HostState::make_status(engine::Hosting& hosting) const {
  const runtime::HostCounts& counts = hosting.host().counts();
  Json status = Json::object();
  status.set("owner", hosting.ownership().self().number).set("lease", name_of(hosting.ownership().lease()));
  status.set("runs", counts.resident.load()).set("effects", counts.effects_under_way.load());
  status.set("started", counts.runs_started.load()).set("loaded", counts.runs_loaded.load());
  status.set("ended", counts.runs_ended.load()).set("released", counts.runs_released.load());
  status.set("records", counts.records.load()).set("answers", counts.answers_taken.load());
  status.set("commands", counts.commands_taken.load());
  const auto why = broken();
  status.set("broken", why ? Json(*why) : Json());
  return status.dump();
}

Result<std::uint16_t, EngineError> HostState::serve(const server::Address& address, std::string token) {
  const std::scoped_lock lock(begin_mutex_);
  if (is_stopped_) return failure(EngineError{EngineError::Kind::Conflict, "the host was stopped"});
  if (service_ != nullptr) return failure(EngineError{EngineError::Kind::Conflict, "the host serves HTTP already"});
  const auto is_loopback = server::is_loopback(address.host);
  if (!is_loopback) {
    return failure(
        EngineError{EngineError::Kind::Usage, "expected an IP address, got `" + address.host + "`", "address"});
  }
  if (!*is_loopback && token.empty()) {
    return failure(EngineError{EngineError::Kind::Usage,
                               "other machines can reach `" + address.host + "`, so clients must send a token",
                               "token"});
  }
  server::ServiceOptions options;
  options.token = std::move(token);
  options.stopped_by = server::StoppedBy::Caller;
  service_ = std::make_unique<server::Service>(*hosting_, hub_, std::move(options));
  auto port = service_->listen(address);
  if (!port) {
    service_.reset();
    return failure(EngineError{EngineError::Kind::Failed, std::move(port.error())});
  }
  service_thread_ =
      std::make_unique<std::thread>(start_signal_free_thread([service = service_.get()] { service->run(); }));
  return *port;
}

}  // namespace tenon::library
