#include "server/routes.h"

#include <array>

namespace tenon::server {

std::span<const Route> Routes::all() {
  static constexpr std::string_view json = "application/json";
  static constexpr std::string_view stream = "text/event-stream";
  static constexpr auto table = std::to_array<Route>({
      {"GET", "/v1/agents", "What can be started, with JSON Schemas of arguments and value", "", "", "200", json, false,
       &Api::list_agents},
      {"POST", "/v1/runs", "Starts a run: of an agent or function with `args`, or with `input` if it takes one text",
       R"({"type":"object","properties":{"agent":{"type":"string"},"fn":{"type":"string"},"input":{"type":"string"},)"
       R"("args":{"type":"object"}},"additionalProperties":false})",
       "", "201 400 404 409 413 422 503", json, false, &Api::start_run},
      {"GET", "/v1/runs", "The runs, oldest first", "", "state after limit", "200 422", json, false, &Api::list_runs},
      {"GET", "/v1/runs/{run}", "A run's state, what it waits for, its end", "", "", "200 404", json, false,
       &Api::show_run},
      {"POST", "/v1/runs/{run}/prompt", "Begins a conversation's next turn",
       R"({"type":"object","properties":{"input":{}},"required":["input"],"additionalProperties":false})", "",
       "202 400 404 409 413 422 503", json, false, &Api::prompt_run},
      {"POST", "/v1/runs/{run}/resume", "Answers what the run waits for",
       R"({"type":"object","properties":{"wait":{"type":"string"},"input":{}},"required":["input"],)"
       R"("additionalProperties":false})",
       "", "202 400 404 409 413 422 503", json, false, &Api::resume_run},
      {"POST", "/v1/runs/{run}/cancel", "Ends a run; of a conversation the turn, or all of it with `conversation`",
       R"({"type":"object","properties":{"reason":{"type":"string"},"conversation":{"type":"boolean"}},)"
       R"("additionalProperties":false})",
       "", "202 400 404 409 413 422 503", json, false, &Api::cancel_run},
      {"GET", "/v1/runs/{run}/events",
       "The run's events after a number, as server-sent events, or as a JSON list with `Accept: application/json`", "",
       "after limit", "200 204 404 422", stream, false, &Api::read_events},
      {"GET", "/v1/runs/{run}/reports", "The reports that a run has written", "", "", "200 404", json, false,
       &Api::list_reports},
      {"GET", "/v1/runs/{run}/reports/{report}", "A report: Markdown, HTML or PDF", "", "", "200 404 413",
       "application/octet-stream", false, &Api::read_report},
      {"GET", "/v1/models", "What can be talked to as a `model`, for clients of OpenAI's API", "", "", "200", json,
       false, &Api::list_models},
      {"POST", "/v1/chat/completions", "Says something to an agent or function that takes one text, in OpenAI's form",
       R"({"type":"object","properties":{"model":{"type":"string"},"messages":{"type":"array"},)"
       R"("stream":{"type":"boolean"},"conversation":{"type":"string"}},"required":["model","messages"]})",
       "", "200 400 404 409 413 422 503", json, false, &Api::complete_chat},
      {"POST", "/agui/{agent}", "Says something to an agent or function that takes one text, in the form of AG-UI",
       R"({"type":"object","properties":{"threadId":{"type":"string"},"runId":{"type":"string"},)"
       R"("messages":{"type":"array"}},"required":["threadId","runId","messages"]})",
       "", "200 400 404 409 413 422 503", stream, false, &Api::run_agui},
      {"GET", "/v1/programs", "The programs whose texts can be read and edited; none without `--edit`", "", "", "200",
       json, false, &Api::list_programs},
      {"GET", "/v1/programs/{name}", "A program's text, its graph of blocks, and the version that an edit names", "",
       "", "200 404 503", json, false, &Api::show_program},
      {"POST", "/v1/programs/{name}/edits", "Edits the graph of a program's blocks: all edits or none",
       R"({"type":"object","properties":{"version":{"type":"string"},"ops":{"type":"array","items":{"type":"object"}},)"
       R"("dry_run":{"type":"boolean"}},"required":["version","ops"],"additionalProperties":false})",
       "", "200 400 404 409 413 422 503", json, false, &Api::edit_program},
      {"GET", "/openapi.json", "This document", "", "", "200", json, false, &Api::show_openapi},
      {"GET", "/healthz", "Whether the server takes requests", "", "", "200 503", json, true, &Api::show_health},
      {"GET", "/metrics", "Counts, in the text form of Prometheus", "", "", "200", "text/plain", false,
       &Api::show_metrics},
  });
  return table;
}

}  // namespace tenon::server
