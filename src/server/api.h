#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "journal/run_queries.h"
#include "runtime/host.h"
#include "server/catalog.h"
#include "server/event_hub.h"
#include "server/event_reader.h"
#include "server/http_message.h"
#include "server/limits.h"
#include "server/program_files.h"
#include "server/shown_values.h"
#include "telemetry/otlp_exporter.h"

namespace tenon::server {

/// Numbers of the server itself, for /metrics.
struct ServerCounts {
  std::atomic<std::uint64_t> requests{0}, refused{0}, connections{0}, connections_refused{0}, readers{0},
      readers_cut{0};
};

/// What the routes work with; all of it outlives the Api.
struct ApiParts {
  runtime::Host& host;
  EventHub& hub;
  journal::Store& store;      ///< opened for reading; used by the server's thread
  journal::RunQueries& runs;  ///< of the same store
  const Catalog& catalog;
  const Limits& limits;
  ServerCounts& counts;
  const telemetry::ExportCounts* spans = nullptr;  ///< none: no spans are sent
  std::string token;                               ///< empty: nobody has to say one
  std::string model;                               ///< as `--model` names it, for people
  std::string reports = {};                        ///< the folder with a folder of reports for each run
  const ProgramFiles* programs = nullptr;          ///< none: they are neither shown nor edited
};

struct Route;

/// The routes: what each request means, without sockets. Used by the server's thread.
class Api {
 public:
  /// A request whose route is known.
  struct Call {
    const HttpRequest& request;
    const Target& target;
    const std::vector<std::string>& names;  ///< what stands in the place of `{…}`
    const OnAnswer& answer;
  };

  explicit Api(ApiParts parts) : parts_(std::move(parts)) {}
  Api(const Api&) = delete;
  Api& operator=(const Api&) = delete;

  /// Calls `answer` once, at once or later, on any thread.
  void handle(const HttpRequest& request, const OnAnswer& answer);
  /// From now on /healthz says that nothing new should be sent here.
  void begin_draining() { is_draining_ = true; }

  /// The OpenAPI document (3.1) of the routes.
  [[nodiscard]] std::string make_openapi() const;

 private:
  friend struct Routes;
  [[nodiscard]] std::optional<HttpResponse> refuse(const HttpRequest& request, const Target& target,
                                                   const Route& route) const;
  [[nodiscard]] std::optional<HttpResponse> refuse_sender(const HttpRequest& request, const Route& route) const;
  void list_agents(const Call& call);
  void list_models(const Call& call);
  void start_run(const Call& call);
  void list_runs(const Call& call);
  void show_run(const Call& call);
  void prompt_run(const Call& call);
  void resume_run(const Call& call);
  void cancel_run(const Call& call);
  void read_events(const Call& call);
  void list_reports(const Call& call);
  void read_report(const Call& call);
  void complete_chat(const Call& call);
  void run_agui(const Call& call);
  void list_programs(const Call& call);
  void show_program(const Call& call);
  void edit_program(const Call& call);
  void show_openapi(const Call& call);
  void show_health(const Call& call);
  void show_metrics(const Call& call);

  [[nodiscard]] std::optional<std::pair<const ProgramFiles::File*, std::string>> read_program(const Call& call);
  [[nodiscard]] std::optional<journal::RunHead> find_run(const Call& call);
  [[nodiscard]] std::unique_ptr<EventReader> make_reader(const journal::RunName& run, std::uint64_t after);
  /// What the run goes on with; null when it cannot be read.
  [[nodiscard]] std::shared_ptr<const vm::LoadedProgram> find_program(const journal::RunName& run);
  [[nodiscard]] ShownValues values_of(const journal::RunName& run);

  ApiParts parts_;
  std::map<Hash, std::shared_ptr<const vm::LoadedProgram>> older_programs_;  ///< of runs, not served any more
  bool is_draining_ = false;
};

/// The body as a JSON object; an answer was given when there is none. `fields`: those that it may have; empty: any.
[[nodiscard]] std::optional<inference::answers::Json> read_body(const HttpRequest& request, const OnAnswer& answer,
                                                                const std::vector<std::string_view>& fields);
/// A member that is a text; nothing when it is not there. Something else is told, and sets `is_wrong`.
[[nodiscard]] std::optional<std::string> find_text(const inference::answers::Json& body, std::string_view name,
                                                   const OnAnswer& answer, bool& is_wrong);
[[nodiscard]] HttpAnswer make_answer(const runtime::HostFailure& failure);
/// What makes a request that is sent again the same one: its Idempotency-Key, if it has one, and all that it says.
[[nodiscard]] runtime::RequestKey key_of(const HttpRequest& request);
/// Whether the key can be used; otherwise that was told.
[[nodiscard]] bool has_usable_key(const HttpRequest& request, const OnAnswer& answer);

}  // namespace tenon::server
