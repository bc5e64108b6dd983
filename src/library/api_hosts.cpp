// Hosts and gateways of tenon/tenon.h.
#include <cstddef>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/file_system.h"
#include "engine/listings.h"
#include "engine/process_system.h"
#include "engine/store_access.h"
#include "json/reader.h"
#include "library/awaited.h"
#include "library/callback_scope.h"
#include "library/follower.h"
#include "library/handles.h"
#include "library/host_outcome.h"
#include "library/host_state.h"
#include "library/stop_list.h"

using namespace tenon;
using engine::EngineError;
using library::AwaitedValue;
using library::HostState;
using library::report;
using library::text_or_empty;
using library::view;

struct tenon_host {
  std::shared_ptr<HostState> state;
};

struct tenon_follower {
  library::Follower follower;
};

namespace {

/// Checks that a host may be used by this process, and turns exceptions into errors.
template <class Use>
tenon_status guarded(HostState& state, tenon_error** error, Use use) {
  if (state.is_of_parent()) {
    return report(TENON_FORKED, "the host was opened before this process was forked; open another one here", error);
  }
  try {
    return use();
  } catch (...) {
    return library::report_exception(error);
  }
}

/// The same for what waits for the threads of the host, on which it calls functions of the embedding program.
template <class Use>
tenon_status guarded_wait(HostState& state, tenon_error** error, Use use) {
  if (!state.is_of_parent() && library::CallbackScope::is_within(&state)) {
    return report(
        TENON_CONFLICT,
        "a function that the host calls cannot wait for the host; use tenon_host_send for a request, or do it "
        "later, on another thread",
        error);
  }
  return guarded(state, error, std::move(use));
}

tenon_status report(const runtime::HostFailure& why, tenon_error** error) {
  using Kind = runtime::HostFailure::Kind;
  switch (why.kind) {
    case Kind::NotFound:
      return report(TENON_NOT_FOUND, why.message, error);
    case Kind::Conflict:
    case Kind::Raced:
    case Kind::KeyReused:
      return report(TENON_CONFLICT, why.message, error);
    case Kind::WrongInput:
      return report(TENON_WRONG_INPUT, why.message, error);
    case Kind::Unavailable:
    case Kind::Unknown:
    case Kind::Elsewhere:
    case Kind::Unequipped:
    case Kind::Damaged:
      break;
  }
  return report(TENON_FAILED, why.message, error);
}

/// Waits for what a thread of the host gives, and passes it to `use`. A host that is broken may never give it.
template <class Given, class Use>
tenon_status await(HostState& state, AwaitedValue<Given>& awaited, std::uint64_t timeout, tenon_error** error,
                   Use use) {
  state.expect(awaited);
  auto given = awaited.wait(library::milliseconds_of(timeout));
  state.forget(awaited);
  if (given) return use(std::move(*given));
  if (const auto broken = state.broken()) return report(TENON_INTERNAL, *broken, error);
  return TENON_NOT_YET;
}

tenon_status report(const journal::StoreError& why, tenon_error** error) {
  return report(engine::to_error(why), error);
}

/// By which a repetition of a request is recognized: the key, and everything that it contains.
runtime::RequestKey key_of(const char* key, std::initializer_list<std::string_view> parts) {
  if (key == nullptr || *key == '\0') return {};
  std::string whole;
  for (const std::string_view part : parts) whole += std::to_string(part.size()) + ':' + std::string(part);
  return {.key = key, .fingerprint = sha256(whole)};
}

/// Nothing after the error was reported.
std::optional<Json> read_input(tenon_text text, tenon_error** error) {
  auto json = parse_json(view(text));
  if (json) return std::move(*json);
  report(TENON_WRONG_INPUT, "the input is not JSON: " + json.error().message, error);
  return std::nullopt;
}

}  // namespace

tenon_status tenon_host_open(const tenon_options* options, tenon_host_role role, const char* const* files, size_t count,
                             tenon_host** host, tenon_error** error) {
  if (!library::prepare(error, {options}, host)) return TENON_USAGE;
  if (files == nullptr && count > 0) return library::report_null(error);
  std::shared_ptr<HostState> state;
  try {
    if (const std::string problem = options->problem(); !problem.empty()) return report(TENON_USAGE, problem, error);
    state = std::make_shared<HostState>(options->options);
  } catch (...) {
    return library::report_exception(error);
  }
  return guarded(*state, error, [&]() -> tenon_status {
    if (role != TENON_HOST && role != TENON_GATEWAY) return report(TENON_USAGE, "there is no such role", error);
    std::vector<std::string> paths;
    for (std::size_t at = 0; at < count; ++at) {
      if (files[at] == nullptr) {
        return report(TENON_USAGE, "file " + std::to_string(at) + " of the host is NULL; each is the path of a program",
                      error);
      }
      paths.emplace_back(files[at]);
    }
    auto opened = state->open(role == TENON_HOST ? journal::OwnerRole::Host : journal::OwnerRole::Gateway, paths);
    if (!opened) return report(std::move(opened.error()), error);
    *host = new tenon_host{std::move(state)};
    return TENON_OK;
  });
}

tenon_status tenon_host_begin(tenon_host* host, tenon_error** error) {
  if (!library::prepare(error, {host})) return TENON_USAGE;
  return guarded_wait(*host->state, error, [&]() -> tenon_status {
    if (!host->state->begin()) return report(TENON_CONFLICT, "the host has begun, or was stopped", error);
    return TENON_OK;
  });
}

tenon_status tenon_host_stop(tenon_host* host, uint64_t grace, tenon_error** error) {
  if (!library::prepare(error, {host})) return TENON_USAGE;
  return guarded_wait(*host->state, error, [&]() -> tenon_status {
    if (host->state->stop(library::milliseconds_of(grace))) return TENON_OK;
    return report(TENON_CONFLICT, "another thread is stopping the host, which has stopped when that call returns",
                  error);
  });
}

void tenon_host_free(tenon_host* host) {
  if (host == nullptr) return;
  // Within a function that it calls, or while another thread stops it, a host stays: its threads use it.
  if (tenon_host_stop(host, 0, nullptr) == TENON_CONFLICT) return;
  delete host;
}

tenon_string* tenon_host_status(const tenon_host* host) {
  return library::text_for_host(
      host, [&] { return host->state->is_of_parent() ? std::string("{}") : host->state->status(); });
}

tenon_status tenon_host_owners(tenon_host* host, tenon_string** owners, tenon_error** error) {
  if (!library::prepare(error, {host}, owners)) return TENON_USAGE;
  return guarded(*host->state, error, [&]() -> tenon_status {
    const auto found = host->state->read([](journal::StoreConnection& store) { return store.ownership().owners(); });
    if (!found) return report(found.error(), error);
    Json list = Json::array();
    for (const journal::Owner& owner : *found) list.push_back(engine::describe_owner(owner));
    *owners = new tenon_string{list.dump()};
    return TENON_OK;
  });
}

tenon_status tenon_host_counts(tenon_host* host, tenon_string** counts, tenon_error** error) {
  if (!library::prepare(error, {host}, counts)) return TENON_USAGE;
  return guarded(*host->state, error, [&]() -> tenon_status {
    const auto found = host->state->read([](journal::StoreConnection& store) { return store.runs().count(); });
    if (!found) return report(found.error(), error);
    Json runs = Json::object();
    for (const auto& [state, number] : found->runs) runs.set(std::string(journal::name_of(state)), number);
    *counts = new tenon_string{Json::object().set("runs", std::move(runs)).set("commands", found->commands).dump()};
    return TENON_OK;
  });
}

tenon_status tenon_host_pools_without_hosts(tenon_host* host, tenon_string** pools, tenon_error** error) {
  if (!library::prepare(error, {host}, pools)) return TENON_USAGE;
  return guarded(*host->state, error, [&]() -> tenon_status {
    const auto found =
        host->state->read([](journal::StoreConnection& store) { return store.ownership().pools_without_hosts(); });
    if (!found) return report(found.error(), error);
    Json list = Json::array();
    for (const std::string& pool : *found) list.push_back(pool);
    *pools = new tenon_string{list.dump()};
    return TENON_OK;
  });
}

tenon_status tenon_host_release(tenon_host* host, size_t count, uint64_t timeout, size_t* released,
                                tenon_error** error) {
  if (!library::prepare(error, {host}, released)) return TENON_USAGE;
  return guarded_wait(*host->state, error, [&]() -> tenon_status {
    const auto given_up = std::make_shared<AwaitedValue<std::size_t>>();
    const bool is_stopped = host->state->with_hosting([&](engine::Hosting* hosting) {
      if (host->state->is_stopped() || hosting == nullptr) return true;
      hosting->host().release_waiting(count, [given_up](std::size_t number) { given_up->give(number); });
      return false;
    });
    if (is_stopped) return report(TENON_CONFLICT, "the host was stopped", error);
    return await(*host->state, *given_up, timeout, error, [&](std::size_t number) {
      *released = number;
      return TENON_OK;
    });
  });
}

tenon_string* tenon_host_describe(const tenon_host* host) {
  return library::text_for_host(host, [&] { return host->state->description(); });
}

tenon_string* tenon_host_placements(const tenon_host* host) {
  return library::text_for_host(host, [&] { return host->state->placements(); });
}

static tenon_status send_start(tenon_host* host, runtime::Host& to, const tenon_request& request,
                               runtime::OnReply on_reply, tenon_error** error) {
  const std::string name = text_or_empty(request.name);
  const std::string_view arguments = view(request.input);
  const server::CatalogEntry* const entry = host->state->catalog().find(name);
  if (entry == nullptr) {
    const std::string nearest = host->state->catalog().nearest(name);
    return report(
        TENON_USAGE,
        "cannot find function or agent `" + name + "`" + (nearest.empty() ? "" : "; did you mean `" + nearest + "`?"),
        error);
  }
  runtime::RunStart start = entry->make_start();
  if (!arguments.empty()) {
    auto json = read_input(request.input, error);
    if (!json) return TENON_WRONG_INPUT;
    if (entry->agent) {
      start.input = std::move(*json);
    } else {
      start.arguments = std::move(*json);
    }
  }
  to.start(std::move(start), key_of(request.key, {"start", name, arguments}), std::move(on_reply));
  return TENON_OK;
}

static tenon_status send_to(tenon_host* host, runtime::Host& to, const tenon_request& request,
                            runtime::OnReply on_reply, tenon_error** error) {
  const std::string_view name = text_or_empty(request.name);
  const std::string_view input = view(request.input);
  const auto key = [&](std::initializer_list<std::string_view> parts) { return key_of(request.key, parts); };
  switch (request.kind) {
    case TENON_START:
      return send_start(host, to, request, std::move(on_reply), error);
    case TENON_PROMPT: {
      auto json = read_input(request.input, error);
      if (!json) return TENON_WRONG_INPUT;
      to.prompt({std::string(name)}, std::move(*json), key({"prompt", name, input}), std::move(on_reply));
      return TENON_OK;
    }
    case TENON_ANSWER: {
      auto json = read_input(request.input, error);
      if (!json) return TENON_WRONG_INPUT;
      const std::string_view wait = text_or_empty(request.wait);
      to.resume({std::string(name)}, std::string(wait), std::move(*json), key({"answer", name, wait, input}),
                std::move(on_reply));
      return TENON_OK;
    }
    case TENON_CANCEL:
    case TENON_CANCEL_TURN: {
      const bool is_run = request.kind == TENON_CANCEL;
      to.cancel({std::string(name)}, is_run ? runtime::CancelScope::Run : runtime::CancelScope::Turn,
                std::string(input), key({is_run ? "cancel" : "cancel turn", name, input}), std::move(on_reply));
      return TENON_OK;
    }
    default:
      return report(TENON_USAGE, "there is no such request", error);
  }
}

/// Sends a request. Unless this fails, `on_reply` is called once.
static tenon_status send(tenon_host* host, const tenon_request& request, runtime::OnReply on_reply,
                         tenon_error** error) {
  if (const auto broken = host->state->broken()) return report(TENON_INTERNAL, *broken, error);
  return host->state->with_hosting([&](engine::Hosting* hosting) {
    const bool is_stopped = host->state->is_stopped() || hosting == nullptr;
    if (is_stopped) return report(TENON_CONFLICT, "the host was stopped", error);
    return send_to(host, hosting->host(), request, std::move(on_reply), error);
  });
}

/// Sends a request and waits for its reply. `use` gets what was accepted.
template <class Use>
static tenon_status ask(tenon_host* host, const tenon_request& request, std::uint64_t timeout, tenon_error** error,
                        Use use) {
  return guarded_wait(*host->state, error, [&]() -> tenon_status {
    const auto replied = std::make_shared<AwaitedValue<runtime::HostReply>>();
    const tenon_status status = send(
        host, request, [replied](runtime::HostReply reply) { replied->give(std::move(reply)); }, error);
    if (status != TENON_OK) return status;
    return await(*host->state, *replied, timeout, error, [&](const runtime::HostReply& reply) -> tenon_status {
      if (!reply) return report(reply.error(), error);
      use(*reply);
      return TENON_OK;
    });
  });
}

namespace {

/// Passes the reply to a request to the function of the embedding program. One that comes while the request is being
/// sent, with locks of the host, is passed on afterwards.
class Replying {
 public:
  Replying(tenon_reply_function function, void* user, const HostState* host)
      : function_(function), user_(user), host_(host) {}

  void take(const runtime::HostReply& reply) {
    if (std::this_thread::get_id() == sender_ && is_being_sent_) {
      early_ = reply;
    } else {
      pass(reply);
    }
  }
  void note_sent() {
    is_being_sent_ = false;
    if (early_) pass(*early_);
  }

 private:
  void pass(const runtime::HostReply& reply) const {
    tenon_error* refusal = nullptr;
    if (!reply) report(reply.error(), &refusal);
    const std::string run = reply ? reply->run.text : std::string();
    try {
      const library::CallbackScope scope(host_);
      function_(user_, view(run), reply ? reply->after : 0, refusal);
    } catch (...) {
      // The request was replied to: there is nothing that could fail.
    }
  }

  const tenon_reply_function function_;
  void* const user_;
  const HostState* const host_;
  const std::thread::id sender_ = std::this_thread::get_id();
  // Of this thread.
  bool is_being_sent_ = true;
  std::optional<runtime::HostReply> early_;
};

}  // namespace

tenon_status tenon_host_send(tenon_host* host, const tenon_request* request, tenon_reply_function function, void* user,
                             tenon_error** error) {
  if (!library::prepare(error, {host})) return TENON_USAGE;
  if (request == nullptr || function == nullptr) return library::report_null(error);
  const tenon_request known = library::known_members(*request);
  if (known.size < offsetof(tenon_request, input))
    return report(TENON_USAGE, "the `size` of the request is too small", error);
  return guarded(*host->state, error, [&] {
    const auto replying = std::make_shared<Replying>(function, user, host->state.get());
    const tenon_status status = send(
        host, known, [replying](const runtime::HostReply& reply) { replying->take(reply); }, error);
    replying->note_sent();
    return status;
  });
}

tenon_status tenon_host_start(tenon_host* host, const char* name, tenon_text arguments, const char* key,
                              uint64_t timeout, tenon_string** run, tenon_error** error) {
  if (!library::prepare(error, {host}, run)) return TENON_USAGE;
  return ask(host, {sizeof(tenon_request), TENON_START, name, nullptr, arguments, key}, timeout, error,
             [&](const runtime::Accepted& accepted) { *run = new tenon_string{accepted.run.text}; });
}

tenon_status tenon_host_prompt(tenon_host* host, const char* run, tenon_text input, const char* key, uint64_t timeout,
                               tenon_error** error) {
  if (!library::prepare(error, {host})) return TENON_USAGE;
  return ask(host, {sizeof(tenon_request), TENON_PROMPT, run, nullptr, input, key}, timeout, error,
             [](const runtime::Accepted&) {});
}

tenon_status tenon_host_answer(tenon_host* host, const char* run, const char* wait, tenon_text input, const char* key,
                               uint64_t timeout, tenon_error** error) {
  if (!library::prepare(error, {host})) return TENON_USAGE;
  return ask(host, {sizeof(tenon_request), TENON_ANSWER, run, wait, input, key}, timeout, error,
             [](const runtime::Accepted&) {});
}

tenon_status tenon_host_cancel(tenon_host* host, const char* run, const char* reason, const char* key, uint64_t timeout,
                               tenon_error** error) {
  if (!library::prepare(error, {host})) return TENON_USAGE;
  return ask(host, {sizeof(tenon_request), TENON_CANCEL, run, nullptr, tenon_text_of(reason), key}, timeout, error,
             [](const runtime::Accepted&) {});
}

tenon_status tenon_host_cancel_turn(tenon_host* host, const char* run, const char* reason, const char* key,
                                    uint64_t timeout, tenon_error** error) {
  if (!library::prepare(error, {host})) return TENON_USAGE;
  return ask(host, {sizeof(tenon_request), TENON_CANCEL_TURN, run, nullptr, tenon_text_of(reason), key}, timeout, error,
             [](const runtime::Accepted&) {});
}

tenon_status tenon_host_run(tenon_host* host, const char* run, tenon_string** state, tenon_error** error) {
  if (!library::prepare(error, {host}, state)) return TENON_USAGE;
  return guarded(*host->state, error, [&]() -> tenon_status {
    const auto head =
        host->state->read([&](journal::StoreConnection& store) { return store.journals().head({text_or_empty(run)}); });
    if (!head) return report(head.error(), error);
    *state = new tenon_string{engine::describe_run(*head).dump()};
    return TENON_OK;
  });
}

namespace {

/// Lists the runs of a store that `read` gives for a filter.
template <class Read>
tenon_status list_runs(const char* state, const char* after, std::size_t limit, tenon_string** runs,
                       tenon_error** error, Read read) {
  journal::RunFilter filter{.after = text_or_empty(after), .limit = limit};
  if (state != nullptr) {
    filter.state = journal::find_state(state);
    if (!filter.state) return report(TENON_USAGE, "there is no state `" + std::string(state) + "`", error);
  }
  const auto heads = read(filter);
  if (!heads) return report(heads.error(), error);
  Json list = Json::array();
  for (const journal::RunHead& head : *heads) list.push_back(engine::describe_run(head));
  *runs = new tenon_string{list.dump()};
  return TENON_OK;
}

}  // namespace

tenon_status tenon_store_runs(const tenon_options* options, const char* state, const char* after, size_t limit,
                              tenon_string** runs, tenon_error** error) {
  if (!library::prepare(error, {options}, runs)) return TENON_USAGE;
  try {
    const engine::StoreChoice& choice = options->options.store;
    if (choice.path.empty()) return report(TENON_USAGE, "the options have no `store`", error);
    RealFileSystem files;
    RealClock clock;
    const engine::System system = engine::process_system(files, clock);
    auto store = engine::open_store(choice, engine::StoreUse::Read, system);
    if (!store) return report(std::move(store.error()), error);
    return list_runs(state, after, limit, runs, error,
                     [&](const journal::RunFilter& filter) { return (*store)->runs().list(filter); });
  } catch (...) {
    return library::report_exception(error);
  }
}

tenon_status tenon_host_runs(tenon_host* host, const char* state, const char* after, size_t limit, tenon_string** runs,
                             tenon_error** error) {
  if (!library::prepare(error, {host}, runs)) return TENON_USAGE;
  return guarded(*host->state, error, [&]() -> tenon_status {
    return list_runs(state, after, limit, runs, error, [&](const journal::RunFilter& filter) {
      return host->state->read([&](journal::StoreConnection& store) { return store.runs().list(filter); });
    });
  });
}

tenon_status tenon_host_outcome(tenon_host* host, const char* run, tenon_outcome** outcome, tenon_error** error) {
  if (!library::prepare(error, {host}, outcome)) return TENON_USAGE;
  return guarded(*host->state, error, [&]() -> tenon_status {
    auto found = host->state->read([&](journal::StoreConnection& store) {
      return library::read_outcome(*host->state, store.journals(), {text_or_empty(run)});
    });
    if (!found) return report(std::move(found.error()), error);
    if (!*found) return TENON_NOT_YET;
    *outcome = new tenon_outcome{library::state_of((*found)->how), std::move(**found)};
    return TENON_OK;
  });
}

tenon_status tenon_host_follow(tenon_host* host, const char* run, uint64_t after, tenon_follower** follower,
                               tenon_error** error) {
  if (!library::prepare(error, {host}, follower)) return TENON_USAGE;
  return guarded(*host->state, error, [&]() -> tenon_status {
    auto head =
        host->state->read([&](journal::StoreConnection& store) { return store.journals().head({text_or_empty(run)}); });
    if (!head) return report(head.error(), error);
    *follower = new tenon_follower{{host->state, std::move(*head), after}};
    return TENON_OK;
  });
}

tenon_status tenon_follower_next(tenon_follower* follower, uint64_t timeout, tenon_event** event, tenon_error** error) {
  if (!library::prepare(error, {follower}, event)) return TENON_USAGE;
  const auto take = [&]() -> tenon_status {
    protocol::Event found;
    const auto state = follower->follower.next(library::milliseconds_of(timeout), found);
    if (!state) return report(state.error(), error);
    if (*state == library::Follower::State::Nothing) {
      if (follower->follower.host().is_stopped()) return report(TENON_CONFLICT, "the host was stopped", error);
      return TENON_NOT_YET;
    }
    *event = *state == library::Follower::State::Ended ? nullptr : new tenon_event{std::move(found), 0};
    return TENON_OK;
  };
  HostState& host = follower->follower.host();
  return timeout > 0 ? guarded_wait(host, error, take) : guarded(host, error, take);
}

void tenon_follower_interrupt(tenon_follower* follower) {
  if (follower != nullptr) follower->follower.interrupt();
}

tenon_status tenon_follower_state(tenon_follower* follower, tenon_run_state* state, tenon_error** error) {
  if (!library::prepare(error, {follower}, state)) return TENON_USAGE;
  return guarded(follower->follower.host(), error, [&]() -> tenon_status {
    const auto found = follower->follower.state();
    if (!found) return report(found.error(), error);
    *state = *found;
    return TENON_OK;
  });
}

int tenon_follower_descriptor(const tenon_follower* follower) {
  return follower == nullptr ? -1 : follower->follower.descriptor();
}

void tenon_follower_free(tenon_follower* follower) {
  delete follower;
}

tenon_status tenon_host_serve(tenon_host* host, const char* address, uint16_t port, const char* token,
                              uint16_t* listening, tenon_error** error) {
  if (!library::prepare(error, {host}, listening)) return TENON_USAGE;
  return guarded_wait(*host->state, error, [&]() -> tenon_status {
    auto served = host->state->serve({text_or_empty(address), port}, text_or_empty(token));
    if (!served) return report(std::move(served.error()), error);
    *listening = *served;
    return TENON_OK;
  });
}
