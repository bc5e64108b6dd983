// Runs: starting, answering, cancelling and listing them, and reading their events.
#include <fmt/format.h>

#include "base/counted.h"
#include "base/parse_number.h"
#include "engine/listings.h"
#include "json/reader.h"
#include "runtime/host/stall_note.h"
#include "runtime/recovery/recovery.h"
#include "server/api.h"

namespace tenon::server {

using runtime::HostReply;

namespace {

runtime::OnReply reply_with(int status, const OnAnswer& answer) {
  return [status, answer](HostReply reply) {
    if (!reply) return answer(make_answer(reply.error()));
    Json json = Json::object();
    json.set("run", reply->run.text);
    if (!reply->wait.empty()) json.set("wait", reply->wait);
    answer(whole(make_json(json.dump(), status)));
  };
}

/// The number of a query parameter; nothing after a refusal was answered.
std::optional<std::uint64_t> read_query(const Target& target, const std::string& name, std::uint64_t otherwise,
                                        const OnAnswer& answer) {
  const auto found = target.query.find(name);
  if (found == target.query.end()) return otherwise;
  const auto number = parse_number<std::uint64_t>(found->second);
  if (!number) {
    answer(whole(make_error(422, "wrong_input",
                            fmt::format("query parameter `{}`: expected a number, got `{}`", name, found->second))));
  }
  return number;
}

/// Of a store that cannot be read. Clients do not learn where a database's server is.
HttpResponse make_read_error(const journal::StoreError& error) {
  const bool is_out_of_reach = error.kind == journal::StoreError::Kind::Unavailable;
  return make_error(503, "unavailable", is_out_of_reach ? out_of_reach : std::string_view(error.message));
}

/// The events of a run as a stream of server-sent events.
class EventsBody final : public BodySource {
 public:
  EventsBody(std::unique_ptr<engine::EventReader> reader, ServerCounts& counts)
      : reader_(std::move(reader)), counts_(counts) {
    ++counts_.readers;
  }
  ~EventsBody() override { --counts_.readers; }
  EventsBody(const EventsBody&) = delete;
  EventsBody& operator=(const EventsBody&) = delete;

  void watch(std::function<void()> notify) override { reader_->watch(std::move(notify)); }
  std::string take(std::size_t bytes_max) override {
    std::string text;
    for (const engine::EventReader::Read& read : reader_->take(bytes_max)) {
      const protocol::Event& event = *read.event;
      text += make_sse(event.number > 0 ? std::optional(event.number) : std::nullopt, event.json);
    }
    return text;
  }
  [[nodiscard]] bool is_done() const override { return is_broken_off_ || reader_->is_at_end() || reader_->problem(); }
  [[nodiscard]] bool can_be_continued() const override { return true; }
  [[nodiscard]] std::string break_off(std::string_view) override {
    is_broken_off_ = true;
    return {};
  }

 private:
  std::unique_ptr<engine::EventReader> reader_;
  ServerCounts& counts_;
  bool is_broken_off_ = false;
};

/// Where a list with `from` begins.
struct ListBegin {
  std::uint64_t after = 0;  ///< the number of the record before the first event
  std::uint64_t total = 0;  ///< how many events the run has
};

/// Nothing after a refusal was answered.
std::optional<ListBegin> find_begin(const Api::Call& call, bool wants_list, journal::Store& store,
                                    const journal::RunName& run, EventCounts& counts) {
  if (!wants_list || call.target.query.contains("after")) {
    call.answer(whole(make_error(422, "wrong_input",
                                 "`from` is for a list of events, with `Accept: application/json` and without "
                                 "`after`")));
    return std::nullopt;
  }
  const auto position = read_query(call.target, "from", 0, call.answer);
  if (!position) return std::nullopt;
  const auto after = counts.find_before(store, run, *position);
  const auto total = after ? counts.count(store, run) : after;
  if (!total) {
    call.answer(whole(make_read_error(total.error())));
    return std::nullopt;
  }
  return ListBegin{*after, *total};
}

/// Answers with the newest events before a number. `total`: how many the run has.
void list_before(const Api::Call& call, const journal::RunHead& head, const ReaderAfter& reader, const Limits& limits,
                 std::uint64_t total) {
  const auto before = read_query(call.target, "before", 0, call.answer);
  if (!before) return;
  const auto limit = read_query(call.target, "limit", limits.listed, call.answer);
  if (!limit) return;
  const std::size_t most = std::min<std::size_t>(*limit, limits.listed);
  const auto page =
      read_events_before(reader, std::min(*before, head.records + 1), {most, limits.queue_bytes, limits.chunk_bytes});
  if (!page) return call.answer(whole(make_error(500, "damaged", page.error())));
  HttpResponse response = make_json(page->list);
  response.headers.emplace_back("Tenon-Events", std::to_string(total));
  if (page->has_earlier && page->first > 0) {
    response.headers.emplace_back("Link", fmt::format(R"(</v1/runs/{}/events?before={}&limit={}>; rel="prev")",
                                                      head.run.text, page->first, most));
  }
  call.answer(whole(std::move(response)));
}

}  // namespace

Json describe_run(const journal::RunHead& head) {
  Json json = Json::object();
  json.set("run", head.run.text).set("state", journal::name_of(head.summary.state));
  json.set("agent", head.summary.title);
  json.set("records", static_cast<std::int64_t>(head.records));
  json.set("created_at", head.created_at).set("updated_at", head.summary.updated_at);
  if (head.summary.wake_at) json.set("wakes_at", *head.summary.wake_at);
  std::optional<engine::Waits> waits = engine::waits_of(head.summary);
  if (!waits) return json;
  json.set("waits", std::move(waits->questions));
  if (waits->services.size() > 0) json.set("unavailable", std::move(waits->services));
  if (waits->timers.size() > 0) json.set("timers", std::move(waits->timers));
  return json;
}

std::optional<journal::RunHead> find_run(journal::Store& store, const Api::Call& call) {
  const std::string& name = call.names.front();
  if (journal::is_run_name(name)) {
    auto head = store.head({name});
    if (head) return std::move(*head);
    if (head.error().kind != journal::StoreError::Kind::Missing) {
      call.answer(whole(make_read_error(head.error())));
      return std::nullopt;
    }
  }
  call.answer(whole(make_error(404, "not_found", "unknown run")));
  return std::nullopt;
}

std::unique_ptr<engine::EventReader> Api::make_reader(const journal::RunName& run, std::uint64_t after) {
  auto head = parts_.store.head(run);
  if (!head) return nullptr;
  return make_reader(*head, after);
}

std::unique_ptr<engine::EventReader> Api::make_reader(const journal::RunHead& head, std::uint64_t after) {
  return std::make_unique<engine::EventReader>(parts_.hub, parts_.store, programs_.program_at(parts_.store), head,
                                               after, parts_.store_file);
}

std::unique_ptr<BodySource> Api::make_later(const journal::RunName& run,
                                            std::function<std::unique_ptr<BodySource>()> make) {
  return std::make_unique<LaterBody>([feed = parts_.hub.watch(run), make = std::move(make)] { return make(); });
}

ShownValues Api::values_of(const journal::RunName& run) {
  return {parts_.store, run, programs_.find(parts_.store, run), parts_.limits.answer_bytes};
}

void Api::list_agents(const Call& call) {
  Json list = Json::array();
  for (const auto& [name, entry] : parts_.catalog.entries()) list.push_back(entry.describe());
  call.answer(whole(make_json(Json::object().set("agents", std::move(list)).dump())));
}

void Api::start_run(const Call& call) {
  if (!has_usable_key(call.request, call.answer)) return;
  const auto body = read_body(call.request, call.answer, {"agent", "fn", "input", "args"});
  if (!body) return;
  const auto wrong = [&](int status, std::string_view code, const std::string& message) {
    call.answer(whole(make_error(status, code, message)));
  };
  bool is_wrong = false;
  const auto agent = find_text(*body, "agent", call.answer, is_wrong);
  if (is_wrong) return;
  const auto function = find_text(*body, "fn", call.answer, is_wrong);
  if (is_wrong) return;
  if (agent.has_value() == function.has_value()) {
    return wrong(422, "wrong_input", "exactly one of `agent` and `fn` is required");
  }
  const std::string& name = agent ? *agent : *function;
  const CatalogEntry* const entry = parts_.catalog.find(name);
  if (entry == nullptr) {
    const std::string nearest = parts_.catalog.nearest(name);
    return wrong(
        404, "not_found",
        fmt::format("unknown agent or function `{}`{}", name,
                    nearest.empty() ? "; /v1/agents lists them" : fmt::format("; did you mean `{}`?", nearest)));
  }
  const Json* const arguments = body->find("args");
  const Json* const said = body->find("input");
  if (said != nullptr && arguments != nullptr)
    return wrong(422, "wrong_input", "`input` and `args` cannot be used together; give one, not both");
  runtime::RunStart start = said != nullptr && said->is_string() && entry->takes_a_text()
                                ? entry->make_start(said->as_string())
                                : entry->make_start();
  if (entry->agent) {
    if (arguments != nullptr) {
      return wrong(422, "wrong_input", fmt::format("`{}` is an agent; use `input` instead of `args`", entry->name));
    }
    if (said != nullptr) start.input = *said;
  } else if (said != nullptr) {
    if (!entry->takes_a_text() || !said->is_string()) {
      return wrong(422, "wrong_input",
                   fmt::format("`{}` {}", entry->name,
                               entry->takes_a_text() ? "takes one text; expected a string as `input`"
                                                     : "does not take one text; use `args` instead of `input`"));
    }
  } else if (arguments != nullptr) {
    start.arguments = *arguments;
  }
  parts_.host.start(std::move(start), key_of(call.request), reply_with(201, call.answer));
}

void Api::list_runs(const Call& call) {
  journal::RunFilter filter;
  const auto limit = read_query(call.target, "limit", 100, call.answer);
  if (!limit) return;
  filter.limit = std::min<std::size_t>(*limit, parts_.limits.listed);
  if (const auto after = call.target.query.find("after"); after != call.target.query.end()) {
    if (!after->second.empty() && !journal::is_run_name(after->second))
      return call.answer(whole(make_error(422, "wrong_input", "`after` takes the name of a run")));
    filter.after = after->second;
  }
  if (const auto state = call.target.query.find("state"); state != call.target.query.end()) {
    filter.state = journal::find_state(state->second);
    if (!filter.state) {
      return call.answer(whole(make_error(422, "wrong_input",
                                          fmt::format("unknown state `{}`; expected running, waiting, idle, done, "
                                                      "failed, cancelled or forgotten",
                                                      state->second))));
    }
  }
  const auto heads = parts_.runs.list(filter);
  if (!heads) return call.answer(whole(make_read_error(heads.error())));
  Json list = Json::array();
  const auto stalls = runtime::find_stalls(parts_.store, *heads);
  for (std::size_t at = 0; at < heads->size(); ++at) {
    Json shown = describe_run((*heads)[at]);
    if (stalls[at]) shown.set("stalled", *stalls[at]);
    list.push_back(std::move(shown));
  }
  const bool has_more = heads->size() == filter.limit && filter.limit > 0;
  call.answer(whole(make_json(Json::object()
                                  .set("runs", std::move(list))
                                  .set("next", has_more ? Json(heads->back().run.text) : Json())
                                  .dump())));
}

void Api::show_run(const Call& call) {
  const auto head = find_run(parts_.store, call);
  if (!head) return;
  Json json = describe_run(*head);
  if (auto why = runtime::find_stall(parts_.store, *head)) json.set("stalled", std::move(*why));
  if (has_ended(head->summary.state) && head->records > 0) {
    const auto events = make_reader(*head, head->records - 1)->take(1);
    auto end = events.empty() ? parse_json("null") : parse_json(events.back().event->json);
    if (end && end->contains("value")) {
      auto value = values_of(head->run).turn_value(*end);
      if (value) end->set("value", std::move(*value));
    }
    if (end) json.set("end", std::move(*end));
  }
  call.answer(whole(make_json(json.dump())));
}

std::optional<Api::RunChange> Api::read_run_change(const Call& call, const std::vector<std::string_view>& fields) {
  if (!has_usable_key(call.request, call.answer)) return std::nullopt;
  auto head = find_run(parts_.store, call);
  if (!head) return std::nullopt;
  auto body = read_body(call.request, call.answer, fields);
  if (!body) return std::nullopt;
  return RunChange{std::move(head->run), std::move(*body)};
}

void Api::prompt_run(const Call& call) {
  const auto change = read_run_change(call, {"input"});
  if (!change) return;
  const Json& body = change->body;
  const Json* const input = body.find("input");
  if (input == nullptr) return call.answer(whole(make_error(422, "wrong_input", "`input` is missing")));
  parts_.host.prompt(change->run, *input, key_of(call.request), reply_with(202, call.answer));
}

void Api::resume_run(const Call& call) {
  const auto change = read_run_change(call, {"wait", "input", "budget"});
  if (!change) return;
  const Json& body = change->body;
  const auto budgets = read_budget(body, "budget");
  if (!budgets) return call.answer(whole(make_error(budgets.error())));
  if (*budgets != bytecode::Bounds{}) {
    if (body.find("input") != nullptr || body.find("wait") != nullptr) {
      return call.answer(whole(make_error(
          422, "wrong_input", "`budget` cannot be combined with `input`: a run whose budget is spent asks nothing")));
    }
    return parts_.hosting.fork(
        {.from = change->run, .budgets = *budgets, .forkable = engine::ForkableRuns::BudgetSpent}, key_of(call.request),
        reply_with(201, call.answer));
  }
  bool is_wrong = false;
  const auto wait = find_text(body, "wait", call.answer, is_wrong);
  if (is_wrong) return;
  const Json* const input = body.find("input");
  if (input == nullptr && wait) return call.answer(whole(make_error(422, "wrong_input", "`input` is missing")));
  parts_.host.resume(change->run, wait.value_or(""), input == nullptr ? std::nullopt : std::optional(*input),
                     key_of(call.request), reply_with(202, call.answer));
}

void Api::fork_run(const Call& call) {
  const auto change = read_run_change(call, {"at", "budget", "text", "dry_run"});
  if (!change) return;
  const Json& body = change->body;
  const auto budgets = read_budget(body, "budget");
  if (!budgets) return call.answer(whole(make_error(budgets.error())));
  bool is_wrong = false;
  auto text = find_text(body, "text", call.answer, is_wrong);
  if (is_wrong) return;
  const auto is_dry_run = read_flag(body, "dry_run");
  if (!is_dry_run) return call.answer(whole(make_error(is_dry_run.error())));
  engine::ForkChoice choice{.from = change->run, .budgets = *budgets};
  if (const Json* const at = body.find("at"); at != nullptr && !at->is_null()) {
    if (!at->is_integer() || at->as_integer() < 0) {
      return call.answer(whole(make_error(
          422, "wrong_input", fmt::format("`at`: expected the number of a record, got {}", tenon::describe(*at)))));
    }
    choice.at = static_cast<std::uint64_t>(at->as_integer());
  }
  const auto start = [&hosting = parts_.hosting, key = key_of(call.request), answer = call.answer](
                         engine::ForkChoice chosen) { hosting.fork(std::move(chosen), key, reply_with(201, answer)); };
  if (!text && !*is_dry_run) return start(std::move(choice));
  inspections_.fork(call, {std::move(choice), std::move(text), *is_dry_run}, start);
}

void Api::cancel_run(const Call& call) {
  const auto change = read_run_change(call, {"reason", "conversation"});
  if (!change) return;
  const Json& body = change->body;
  bool is_wrong = false;
  const auto reason = find_text(body, "reason", call.answer, is_wrong);
  if (is_wrong) return;
  const Json* const whole_one = body.find("conversation");
  if (whole_one != nullptr && !whole_one->is_boolean()) {
    return call.answer(
        whole(make_error(422, "wrong_input",
                         fmt::format("`conversation`: expected true or false, got {}", tenon::describe(*whole_one)))));
  }
  const bool ends_run = whole_one != nullptr && whole_one->as_boolean();
  parts_.host.cancel(change->run, ends_run ? runtime::CancelScope::Run : runtime::CancelScope::Turn,
                     reason.value_or("cancelled by a client"), key_of(call.request), reply_with(202, call.answer));
}

void Api::read_events(const Call& call) {
  const auto head = find_run(parts_.store, call);
  if (!head) return;
  auto after = read_query(call.target, "after", 0, call.answer);
  if (!after) return;
  // A client that reconnects sends this header; it replaces the number in the address.
  if (const std::string_view last = call.request.header("last-event-id"); !last.empty()) {
    const auto number = parse_number<std::uint64_t>(last);
    if (!number) {
      return call.answer(whole(make_error(422, "wrong_input", "Last-Event-ID: expected a number")));
    }
    after = number;
  }
  if (*after > head->records) {
    return call.answer(whole(
        make_error(422, "wrong_input",
                   fmt::format("the run has {}; there is no event {}", counted(head->records, "record"), *after))));
  }
  const bool wants_list = call.request.header("accept").find("application/json") != std::string_view::npos;
  if (call.target.query.contains("before")) {
    if (!wants_list || call.target.query.contains("after") || call.target.query.contains("from")) {
      return call.answer(whole(make_error(422, "wrong_input",
                                          "`before` is for a list of events, with `Accept: application/json` and "
                                          "without `after` and `from`")));
    }
    const auto total = event_counts_.count(parts_.store, head->run);
    if (!total) return call.answer(whole(make_read_error(total.error())));
    const ReaderAfter reader_after = [&](std::uint64_t number) { return make_reader(*head, number); };
    return list_before(call, *head, reader_after, parts_.limits, *total);
  }
  std::optional<ListBegin> begin;
  if (call.target.query.contains("from")) {
    begin = find_begin(call, wants_list, parts_.store, head->run, event_counts_);
    if (!begin) return;
    after = begin->after;
  }
  auto reader = make_reader(*head, *after);
  if (!wants_list) {
    HttpResponse response;
    if (has_ended(head->summary.state) && *after == head->records) {
      response.status = 204;  // ends an EventSource: no more events will come
      return call.answer(whole(std::move(response)));
    }
    response.content_type = "text/event-stream";
    response.headers.emplace_back("Cache-Control", "no-store");
    response.headers.emplace_back("X-Accel-Buffering", "no");
    return call.answer({std::move(response), std::make_unique<EventsBody>(std::move(reader), parts_.counts), true});
  }
  const auto limit = read_query(call.target, "limit", parts_.limits.listed, call.answer);
  if (!limit) return;
  std::string list = "[";
  std::size_t count = 0;
  std::uint64_t last = *after;
  bool has_more = false;
  const std::size_t most = std::min<std::size_t>(*limit, parts_.limits.listed);
  while (count < most && list.size() < parts_.limits.queue_bytes) {
    const auto events = reader->take(std::min(parts_.limits.chunk_bytes, parts_.limits.queue_bytes - list.size()));
    if (events.empty()) break;
    for (const engine::EventReader::Read& read : events) {
      has_more = count == most;
      if (has_more) break;
      if (count++ > 0) list += ',';
      list += read.event->json;
      last = read.event->number;
    }
  }
  has_more = has_more || !reader->take(1).empty();
  if (reader->problem()) return call.answer(whole(make_error(500, "damaged", *reader->problem())));
  HttpResponse response = make_json(list + "]");
  if (begin) response.headers.emplace_back("Tenon-Events", std::to_string(begin->total));
  if (has_more) {
    response.headers.emplace_back("Link",
                                  fmt::format(R"(</v1/runs/{}/events?after={}>; rel="next")", head->run.text, last));
  }
  call.answer(whole(std::move(response)));
}

}  // namespace tenon::server
