#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/event_hub.h"
#include "engine/event_reader.h"
#include "engine/hosting.h"
#include "graph/placement.h"
#include "journal/ownership.h"
#include "journal/run_queries.h"
#include "runtime/host/host.h"
#include "server/api_call.h"
#include "server/catalog.h"
#include "server/event_pages.h"
#include "server/http_message.h"
#include "server/inspector.h"
#include "server/limits.h"
#include "server/program_files.h"
#include "server/request_fields.h"
#include "server/run_inspections.h"
#include "server/run_programs.h"
#include "server/shown_values.h"
#include "server/studio_files.h"
#include "telemetry/otlp_exporter.h"

namespace tenon::server {

/// Counts of the server, for /metrics.
struct ServerCounts {
  std::atomic<std::uint64_t> requests{0}, refused{0}, connections{0}, connections_refused{0}, readers{0},
      readers_cut{0};
};

/// What the routes need; all of it outlives the Api.
struct ApiParts {
  engine::Hosting& hosting;
  runtime::Host& host;  ///< of the hosting
  engine::EventHub& hub;
  journal::Store& store;          ///< opened for reading; used by the server's thread
  std::string store_file;         ///< its path or URL, which no answer shows
  journal::RunQueries& runs;      ///< of the same store
  journal::Ownership& ownership;  ///< of the host
  Catalog& catalog;               ///< changed by the server's thread
  const Limits& limits;
  ServerCounts& counts;
  const telemetry::ExportCounts* spans = nullptr;      ///< none: no spans are sent
  std::string token;                                   ///< empty: none is required
  std::string model;                                   ///< as `--model` names it
  std::string reports = {};                            ///< the folder that has a folder of reports for each run
  const ProgramFiles* programs = nullptr;              ///< none: they are neither shown nor edited
  ChangedPrograms* changed = nullptr;                  ///< files to load again before a request; none: never
  Inspector* inspector = nullptr;                      ///< none without `programs`
  StudioFiles studio = {};                             ///< not empty: its page is served, to this machine alone
  std::map<std::string, graph::Places> drawings = {};  ///< the newest drawing of each program, for the next one
};

/// Why a process changes nothing that has no lease (journal::LeaseState), or reads nothing.
inline constexpr std::string_view out_of_reach = "the store's server cannot be reached; try again";

struct Route;
class ResponseBody;
struct ResponsePlace;
struct ResponseRequest;

/// How a response of OpenAI's API is sent.
enum class ResponseForm : std::uint8_t {
  Created,    ///< the object at the end of the turn; a failure is an error
  Finished,   ///< the object at the end of the turn, also of a failed one
  AsItIsNow,  ///< the object at once, also in the middle of the turn
  Streamed,   ///< as server-sent events
};

/// The routes: what each request means, without sockets. Used by the server's thread.
class Api {
 public:
  using Call = ApiCall;

  explicit Api(ApiParts parts) : parts_(std::move(parts)) {}
  Api(const Api&) = delete;
  Api& operator=(const Api&) = delete;

  /// Calls `answer` once, now or later, on any thread: with an error 500 if the route's handler throws, which is
  /// reported.
  void handle(const HttpRequest& request, const OnAnswer& answer);
  /// Shows the operator what was thrown, and where: a bug in Tenon, or there is no memory.
  void report_thrown(std::string_view where, const std::exception& thrown) const;
  /// From now on /readyz answers that the server is not ready.
  void begin_draining() { is_draining_ = true; }

 private:
  friend struct Routes;
  [[nodiscard]] std::optional<HttpResponse> refuse(const HttpRequest& request, const Target& target,
                                                   const Route& route) const;
  [[nodiscard]] std::optional<HttpResponse> refuse_sender(const HttpRequest& request, const Route& route) const;
  void list_agents(const Call& call);
  void list_models(const Call& call);
  void show_model(const Call& call);
  void start_run(const Call& call);
  void list_runs(const Call& call);
  void show_run(const Call& call);
  void prompt_run(const Call& call);
  void resume_run(const Call& call);
  void fork_run(const Call& call);
  void cancel_run(const Call& call);
  void read_events(const Call& call);
  void list_reports(const Call& call);
  void read_report(const Call& call);
  void complete_chat(const Call& call);
  void create_response(const Call& call);
  void show_response(const Call& call);
  void cancel_response(const Call& call);
  void run_agui(const Call& call);
  void list_programs(const Call& call);
  void show_program(const Call& call);
  void edit_program(const Call& call);
  void draft_program(const Call& call);
  void save_program(const Call& call);
  void show_palette(const Call& call);
  void read_changes(const Call& call);
  void show_studio(const Call& call);
  void show_openapi(const Call& call);
  void show_health(const Call& call);
  void show_readiness(const Call& call);
  void show_metrics(const Call& call);

  /// A request that changes a run.
  struct RunChange {
    journal::RunName run;
    Json body;
  };
  /// `fields`: those of the body. Nothing after a refusal was answered.
  [[nodiscard]] std::optional<RunChange> read_run_change(const Call& call, const std::vector<std::string_view>& fields);
  [[nodiscard]] std::unique_ptr<engine::EventReader> make_reader(const journal::RunName& run, std::uint64_t after);
  [[nodiscard]] std::unique_ptr<engine::EventReader> make_reader(const journal::RunHead& head, std::uint64_t after);
  /// A body that `make` returns on the server's thread. The run is watched from now on, so that no piece of an answer
  /// is missed until then. Any thread.
  [[nodiscard]] std::unique_ptr<BodySource> make_later(const journal::RunName& run,
                                                       std::function<std::unique_ptr<BodySource>()> make);
  [[nodiscard]] ShownValues values_of(const journal::RunName& run);
  /// The agent or function that a request in OpenAI's format names; null when it was refused.
  [[nodiscard]] const CatalogEntry* find_model(const Json& body, const OnAnswer& answer) const;
  /// What OpenAI's requests for an answer have in common.
  struct AnswerRequest {
    Json body;
    const CatalogEntry* entry = nullptr;
    bool is_streamed = false;
    bool wants_usage = false;
  };
  /// Nothing when the request was refused.
  [[nodiscard]] std::optional<AnswerRequest> read_answer_request(const Call& call,
                                                                 std::span<const RequestField> fields) const;
  [[nodiscard]] const CatalogEntry* find_model(const std::string& name, const OnAnswer& answer) const;
  struct Message {
    const CatalogEntry* entry = nullptr;
    std::string conversation;  ///< a name of the client's own, a run's name, or empty for a new conversation
    std::string text;
  };
  /// Calls `reply` with what becomes of the message, unless `answer` was called with a refusal.
  void say(const Message& message, runtime::RequestKey key, const OnAnswer& answer, const runtime::OnReply& reply);
  [[nodiscard]] std::optional<ResponseRequest> find_response(const ResponsePlace& place);
  [[nodiscard]] std::unique_ptr<ResponseBody> make_response(const std::string& id, ResponseForm form);

  ApiParts parts_;
  RunPrograms programs_{parts_.catalog};
  RunInspections inspections_{parts_, programs_};
  EventCounts event_counts_;
  bool is_draining_ = false;
};

/// Returns the body as a JSON object; nothing after a refusal was answered. `fields`: the allowed ones; empty: any.
[[nodiscard]] std::optional<Json> read_body(const HttpRequest& request, const OnAnswer& answer,
                                            const std::vector<std::string_view>& fields);
/// Returns a member that is a string; nothing when it is missing. Another type is answered, and sets `is_wrong`.
[[nodiscard]] std::optional<std::string> find_text(const Json& body, std::string_view name, const OnAnswer& answer,
                                                   bool& is_wrong);
/// The file that the request names; null when there is none, which was answered.
[[nodiscard]] const ProgramFiles::File* find_program_file(const ProgramFiles* programs, const Api::Call& call);
/// The run that the request names; nothing when it was answered that there is none.
[[nodiscard]] std::optional<journal::RunHead> find_run(journal::Store& store, const Api::Call& call);
/// A run as the list of runs shows it.
[[nodiscard]] Json describe_run(const journal::RunHead& head);
[[nodiscard]] HttpAnswer make_answer(const runtime::HostFailure& failure);
/// By what a repeated request is recognized: its Idempotency-Key, if it has one, and its contents.
[[nodiscard]] runtime::RequestKey key_of(const HttpRequest& request);
/// Whether the key can be used; otherwise a refusal was answered.
[[nodiscard]] bool has_usable_key(const HttpRequest& request, const OnAnswer& answer);

}  // namespace tenon::server
