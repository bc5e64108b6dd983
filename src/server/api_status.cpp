// The server's own state.
#include <fmt/format.h>

#include "server/api.h"
#include "server/openapi.h"

namespace tenon::server {

void Api::show_openapi(const Call& call) {
  const StudioRoutes studio = parts_.studio.empty() ? StudioRoutes::LeftOut : StudioRoutes::Listed;
  call.answer({make_json(make_openapi(studio).dump()), nullptr, true});
}

void Api::show_health(const Call& call) {
  call.answer(whole(make_json(R"({"status":"ok"})")));
}

/// Programs are loaded before the server listens, so only the store decides.
void Api::show_readiness(const Call& call) {
  const auto not_ready = [answer = call.answer](std::string_view reason) {
    answer(whole(make_error(503, "not_ready", reason)));
  };
  if (is_draining_) return not_ready("the server is stopping");
  if (parts_.ownership.lease() != journal::LeaseState::Held) {
    return not_ready(out_of_reach);
  }
  parts_.host.use_notes([answer = call.answer, not_ready](Result<runtime::StoreNotes*, runtime::HostFailure> notes) {
    if (!notes) return not_ready(notes.error().message);
    (*notes)->check_store([answer, not_ready](const runtime::StoreNotes::Done& checked) {
      if (!checked) return not_ready(checked.error().message);
      answer(whole(make_json(R"({"status":"ready"})")));
    });
  });
}

void Api::show_metrics(const Call& call) {
  std::string text;
  const auto add = [&](std::string_view name, std::string_view type, std::string_view help, std::uint64_t value) {
    text += fmt::format("# HELP tenon_{} {}\n# TYPE tenon_{} {}\ntenon_{} {}\n", name, help, name, type, name, value);
  };
  const runtime::HostCounts& host = parts_.host.counts();
  const ServerCounts& server = parts_.counts;
  add("runs_started_total", "counter", "Runs that this process has started.", host.runs_started);
  add("runs_ended_total", "counter", "Runs that have ended in this process.", host.runs_ended);
  add("runs_loaded_total", "counter", "Runs that were read from the store.", host.runs_loaded);
  add("runs_released_total", "counter", "Runs that were dropped from memory.", host.runs_released);
  add("runs_resident", "gauge", "Runs in memory.", host.resident);
  add("effects_under_way", "gauge", "Generations and tool calls in progress.", host.effects_under_way);
  add("lease_held", "gauge", "Whether this process may begin effects: 1 or 0.",
      parts_.ownership.lease() == journal::LeaseState::Held ? 1 : 0);
  add("answers_taken_total", "counter", "Answers of people that were accepted.", host.answers_taken);
  add("commands_taken_total", "counter", "Commands of other processes that were answered.", host.commands_taken);
  add("records_total", "counter", "Records that have become durable.", host.records);
  add("http_requests_total", "counter", "Requests.", server.requests);
  add("http_refused_total", "counter", "Requests that were answered with an error.", server.refused);
  add("http_connections", "gauge", "Connections.", server.connections);
  add("http_connections_refused_total", "counter", "Connections that were refused because of the limit.",
      server.connections_refused);
  add("event_readers", "gauge", "Streams of events that are being read.", server.readers);
  add("event_readers_cut_total", "counter", "Readers that were disconnected because they were too slow.",
      server.readers_cut);
  if (parts_.spans != nullptr) {
    add("spans_exported_total", "counter", "Spans that the collector has accepted.", parts_.spans->exported);
    add("spans_dropped_total", "counter", "Spans that did not fit or could not be delivered.", parts_.spans->dropped);
    add("span_requests_failed_total", "counter", "Requests to the collector that failed.",
        parts_.spans->requests_failed);
  }
  HttpResponse response;
  response.content_type = "text/plain; version=0.0.4";
  response.body = std::move(text);
  call.answer({std::move(response), nullptr, true});
}

}  // namespace tenon::server
