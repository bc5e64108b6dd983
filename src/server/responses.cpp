// OpenAI's responses: an agent or function that takes one text is a model, a response is what a message leads to.
#include <fmt/format.h>

#include "base/parse_number.h"
#include "json/json.h"
#include "json/reader.h"
#include "server/api.h"
#include "server/openai_fields.h"
#include "server/turn_answer.h"

namespace tenon::server {

/// Which part of a run a response is: from a request to the end of its turn, or to the question that it asks.
struct ResponsePlace {
  journal::RunName run;
  std::uint64_t after = 0;  ///< the number of the last record before the request

  [[nodiscard]] std::string suffix() const { return runtime::Accepted{run, "", after}.place(); }
  [[nodiscard]] std::string id() const { return "resp_" + suffix(); }
};

namespace {

std::optional<ResponsePlace> read_response_id(std::string_view id) {
  constexpr std::string_view prefix = "resp_";
  const std::size_t end = id.rfind('_');
  if (!id.starts_with(prefix) || end < prefix.size()) return std::nullopt;
  const auto after = parse_number<std::uint64_t>(id.substr(end + 1));
  if (!after) return std::nullopt;
  ResponsePlace place{{std::string(id.substr(prefix.size(), end - prefix.size()))}, *after};
  if (place.id() != id) return std::nullopt;
  if (!journal::is_run_name(place.run.text)) return std::nullopt;
  return place;
}

}  // namespace

/// What a response repeats of its request; kept as a note of the store.
struct ResponseRequest {
  std::string previous;      ///< id of the response before it; may be empty
  std::string conversation;  ///< as the client named it
  bool is_background = false;

  static constexpr std::string_view note_prefix = "response/resp_";  ///< is followed by ResponsePlace::suffix
  static std::string note_key(const ResponsePlace& place) { return std::string(note_prefix) + place.suffix(); }
  [[nodiscard]] runtime::AcceptedNote to_note() const {
    const Json json =
        Json::object({{"previous", previous}, {"conversation", conversation}, {"background", is_background}});
    return {std::string(note_prefix), json.dump()};
  }
  static ResponseRequest from_note(std::string_view bytes) {
    const Json json = parse_own_json(bytes);
    return {json.text_or("previous", ""), json.text_or("conversation", ""), json.boolean_or("background", false)};
  }
};

/// A response as one object, or as the stream of events that leads to it.
class ResponseBody final : public TurnAnswer {
 public:
  using Form = ResponseForm;

  ResponseBody(std::unique_ptr<engine::EventReader> reader, ShownValues values, runtime::Host& host,
               ResponsePlace place, ResponseRequest request, std::string model, std::int64_t created, Form form)
      : TurnAnswer(std::move(reader), std::move(values), host,
                   form == Form::Streamed ? Delivery::Pieces : Delivery::Whole),
        place_(std::move(place)),
        request_(std::move(request)),
        model_(std::move(model)),
        created_(created),
        form_(form) {}

  [[nodiscard]] std::string take(std::size_t bytes_max) override {
    std::string out = TurnAnswer::take(bytes_max);
    if (form_ != Form::AsItIsNow || TurnAnswer::is_done()) return out;
    is_shown_ = true;
    return dump(object("in_progress", nullptr)) + "\n";
  }
  [[nodiscard]] bool is_done() const override { return is_shown_ || TurnAnswer::is_done(); }
  /// Whether the turn has ended as well, so that nothing can follow.
  [[nodiscard]] bool has_ended() const { return TurnAnswer::is_done() && !asks_; }

 private:
  [[nodiscard]] bool is_streamed() const { return form_ == Form::Streamed; }

  void write_begin(std::string& out) override {
    if (!is_streamed()) return;
    send("response.created", Json::object({{"response", object("in_progress", nullptr)}}), out);
    send("response.in_progress", Json::object({{"response", object("in_progress", nullptr)}}), out);
  }
  void write_piece(const std::string& piece, std::string& out) override {
    if (!is_streamed()) return;
    open_message(out);
    send("response.output_text.delta", part_fields(Json::object({{"delta", piece}, {"logprobs", Json::array()}})), out);
  }
  void write_end(const Json& wait, std::string& out) override {
    asks_ = !wait.is_null();
    if (!is_streamed()) {
      out += dump(object("completed", wait)) + "\n";
      return;
    }
    open_message(out);
    send("response.output_text.done", part_fields(Json::object({{"text", text()}, {"logprobs", Json::array()}})), out);
    send("response.content_part.done", part_fields(Json::object({{"part", part(text())}})), out);
    send("response.output_item.done", Json::object({{"output_index", 0}, {"item", message("completed")}}), out);
    send("response.completed", Json::object({{"response", object("completed", wait)}}), out);
  }
  void write_failure(Failure failure, const std::string& why, const std::string& code, std::string& out) override {
    const bool is_cancelled = failure == Failure::Cancelled;
    if (form_ == Form::Created && !is_cancelled) {
      auto error = parse_own_json(make_error(500, "failed", why).body);
      error["error"]["code"] = code;
      error["response"] = place_.id();
      out += dump(error) + "\n";
      return;
    }
    set_status(200);
    Json response = object(is_cancelled ? "cancelled" : "failed", nullptr);
    response["error"] = Json::object({{"code", "server_error"}, {"message", fmt::format("{}: {}", code, why)}});
    if (is_streamed()) {
      send("response.failed", Json::object({{"response", std::move(response)}}), out);
    } else {
      out += dump(response) + "\n";
    }
  }

  void open_message(std::string& out) {
    if (std::exchange(is_open_, true)) return;
    Json item = message("in_progress");
    item["content"] = Json::array();
    send("response.output_item.added", Json::object({{"output_index", 0}, {"item", std::move(item)}}), out);
    send("response.content_part.added", part_fields(Json::object({{"part", part("")}})), out);
  }

  void send(std::string_view type, const Json& fields, std::string& out) {
    Json event = Json::object({{"type", type}, {"sequence_number", events_++}});
    event.update(fields);
    out += fmt::format("event: {}\n", type) + make_sse(std::nullopt, dump(event));
  }

  [[nodiscard]] Json part_fields(const Json& more) const {
    Json fields = Json::object({{"item_id", message_id()}, {"output_index", 0}, {"content_index", 0}});
    fields.update(more);
    return fields;
  }
  static Json part(const std::string& text) {
    return Json::object(
        {{"type", "output_text"}, {"text", text}, {"annotations", Json::array()}, {"logprobs", Json::array()}});
  }
  [[nodiscard]] std::string message_id() const { return "msg_" + place_.suffix(); }
  [[nodiscard]] Json message(std::string_view status) const {
    return Json::object({{"id", message_id()},
                         {"type", "message"},
                         {"status", status},
                         {"role", "assistant"},
                         {"content", Json::array({part(text())})}});
  }

  [[nodiscard]] Json object(std::string_view status, const Json& wait) const {
    const bool has_message = status == "completed" || !text().empty();
    Json response = Json::object(
        {{"id", place_.id()},
         {"object", "response"},
         {"created_at", created_},
         {"status", status},
         {"background", request_.is_background},
         {"error", nullptr},
         {"incomplete_details", nullptr},
         {"instructions", nullptr},
         {"max_output_tokens", nullptr},
         {"model", model_},
         {"output", Json::array()},
         {"parallel_tool_calls", true},
         {"previous_response_id", nullptr},
         {"reasoning", Json::object({{"effort", nullptr}, {"summary", nullptr}})},
         {"store", true},
         {"temperature", 1.0},
         {"text", Json::object({{"format", Json::object({{"type", "text"}})}})},
         {"tool_choice", "auto"},
         {"tools", Json::array()},
         {"top_p", 1.0},
         {"truncation", "disabled"},
         {"usage", nullptr},
         {"metadata", Json::object()},
         {"conversation",
          Json::object({{"id", request_.conversation.empty() ? place_.run.text : request_.conversation}})}});
    if (has_message) response["output"].push_back(message(status == "completed" ? "completed" : "incomplete"));
    if (!request_.previous.empty()) response["previous_response_id"] = request_.previous;
    if (status != "in_progress") response["usage"] = tokens();
    if (!wait.is_null())
      response["wait"] =
          Json::object({{"run", run().text}, {"wait", wait.get("wait")}, {"schema", wait.get("schema")}});
    return response;
  }

  [[nodiscard]] Json tokens() const {
    return Json::object(
        {{"input_tokens", usage().input},
         {"input_tokens_details", Json::object({{"cached_tokens", usage().cached}, {"cache_write_tokens", 0}})},
         {"output_tokens", usage().output},
         {"output_tokens_details", Json::object({{"reasoning_tokens", 0}})},
         {"total_tokens", usage().input + usage().output}});
  }

  ResponsePlace place_;
  ResponseRequest request_;
  std::string model_;
  std::int64_t created_;  ///< seconds since 1970
  Form form_;
  std::uint64_t events_ = 0;
  bool is_open_ = false;   ///< the message has begun
  bool is_shown_ = false;  ///< of a turn in progress
  bool asks_ = false;      ///< the turn waits for an answer
};

namespace {

/// When the request was accepted: the time of the first event after it, in seconds since 1970.
std::int64_t created_at(engine::EventReader& reader) {
  const auto events = reader.take(1);
  if (events.empty()) return 0;
  const auto event = parse_own_json(events.front().event->json);
  return static_cast<std::int64_t>(event.count_or("time", 0) / 1000);
}

/// `conversation` of a request: a name, or an object with it as `id`.
Result<std::string, FieldProblem> read_conversation(const Json& body) {
  const Json* const given = body.find("conversation");
  if (given == nullptr || !given->is_object()) return read_string(body, "conversation");
  auto id = read_string(*given, "id");
  if (id && !id->empty()) return id;
  return failure(FieldProblem{422, "conversation.id", "wrong_input", "`conversation.id`: expected a string"});
}

/// `has_conversation`: the request names a conversation, or a response of one.
Result<std::string, FieldProblem> read_input(const Json& body, bool has_conversation) {
  const Json* const input = body.find("input");
  if (input != nullptr && input->is_string()) return input->as_string();
  return read_user_text(
      input,
      {.field = "input", .text_part = "input_text", .has_item_types = true, .has_conversation = has_conversation});
}

/// Responses of a conversation follow one another: only the newest can be continued. Looks for a turn that began after
/// the one of the response.
std::optional<runtime::HostFailure> find_newer_response(journal::Store& store, const ResponsePlace& place) {
  constexpr std::size_t records_per_read = 256;
  bool is_own = true;  // the next turn that begins, or ends, is the response's
  for (std::uint64_t after = place.after;;) {
    const auto records = store.read(place.run, after, records_per_read);
    if (!records || records->empty()) return std::nullopt;
    for (const journal::Record& raw : *records) {
      after = raw.number;
      const auto record = effects::decode_record(raw.bytes);
      if (!record) return std::nullopt;  // continuing the run reports it
      const bool begins = std::holds_alternative<effects::TurnStarted>(record->body);
      if (begins && !is_own) {
        return runtime::HostFailure{runtime::HostFailure::Kind::Conflict,
                                    "`previous_response_id` is not the newest response of its conversation"};
      }
      if (begins || std::holds_alternative<effects::TurnEnded>(record->body)) is_own = false;
    }
  }
}

HttpAnswer unknown_response(std::string_view id, std::string_view param) {
  return whole(make_error(404, "not_found", fmt::format("unknown response `{}`", id.substr(0, 100)), param));
}

}  // namespace

std::optional<ResponseRequest> Api::find_response(const ResponsePlace& place) {
  const auto note = parts_.store.find_note(ResponseRequest::note_key(place));
  return note && *note ? std::optional(ResponseRequest::from_note((*note)->bytes)) : std::nullopt;
}

/// Null when there is no such response.
std::unique_ptr<ResponseBody> Api::make_response(const std::string& id, ResponseForm form) {
  const auto place = read_response_id(id);
  const auto request = place ? find_response(*place) : std::nullopt;
  auto reader = request ? make_reader(place->run, place->after) : nullptr;
  const auto first = reader ? make_reader(place->run, place->after) : nullptr;
  const auto head =
      first ? parts_.store.head(place->run) : failure(journal::StoreError{journal::StoreError::Kind::Missing, ""});
  if (!head || head->summary.state == journal::RunState::Forgotten) return nullptr;
  std::string model = head->summary.title;
  for (const auto& [name, entry] : parts_.catalog.entries()) {
    if (entry.declared_name() == head->summary.title) model = name;
  }
  return std::make_unique<ResponseBody>(std::move(reader), values_of(place->run), parts_.host, *place, *request,
                                        std::move(model), created_at(*first), form);
}

void Api::show_response(const Call& call) {
  const auto wish = call.target.query.find("stream");
  const bool is_streamed = wish != call.target.query.end() && wish->second == "true";
  if (wish != call.target.query.end() && !is_streamed && wish->second != "false") {
    return call.answer(whole(make_error(422, "wrong_input", "query parameter `stream`: expected true or false")));
  }
  auto response = make_response(call.names.front(), is_streamed ? ResponseForm::Streamed : ResponseForm::AsItIsNow);
  if (response == nullptr) return call.answer(unknown_response(call.names.front(), "response_id"));
  HttpAnswer answer;
  answer.is_streamed = is_streamed;
  if (is_streamed) {
    answer.head.content_type = "text/event-stream";
    answer.head.headers.emplace_back("Cache-Control", "no-store");
  }
  answer.body = std::move(response);
  call.answer(std::move(answer));
}

void Api::cancel_response(const Call& call) {
  if (!has_usable_key(call.request, call.answer)) return;
  const auto body = read_body(call.request, call.answer, {});
  if (!body) return;
  if (const auto problem = find_field_problem(*body, {})) return call.answer(whole(make_error(*problem)));
  const std::string id = call.names.front();
  const auto response = make_response(id, ResponseForm::AsItIsNow);
  if (response == nullptr) return call.answer(unknown_response(id, "response_id"));
  HttpResponse now;
  now.body = response->take(parts_.limits.chunk_bytes);
  if (response->has_ended()) return call.answer(whole(std::move(now)));
  parts_.host.cancel(read_response_id(id)->run, runtime::CancelScope::Turn, "the client cancelled the response",
                     key_of(call.request), [this, id, answer = call.answer](runtime::HostReply reply) {
                       if (!reply) return answer(make_answer(reply.error()));
                       HttpAnswer given;
                       given.is_streamed = false;
                       given.body =
                           make_later(reply->run, [this, id] { return make_response(id, ResponseForm::Finished); });
                       answer(std::move(given));
                     });
}

void Api::create_response(const Call& call) {
  const auto wanted = read_answer_request(call, response_fields());
  if (!wanted) return;
  const Json& body = wanted->body;
  const auto refuse = [&](const FieldProblem& problem) { call.answer(whole(make_error(problem))); };
  const auto is_background = read_flag(body, "background");
  if (!is_background) return refuse(is_background.error());
  auto conversation = read_conversation(body);
  if (!conversation) return refuse(conversation.error());
  auto previous = read_string(body, "previous_response_id");
  if (!previous) return refuse(previous.error());
  if (!previous->empty() && !conversation->empty()) {
    return refuse({400, "previous_response_id", "mutually_exclusive_parameters",
                   "`previous_response_id` and `conversation` cannot be used together"});
  }
  auto text = read_input(body, !previous->empty() || !conversation->empty());
  if (!text) return refuse(text.error());

  const ResponseRequest request{*previous, *conversation, *is_background};
  runtime::RequestKey key = key_of(call.request);
  if (!previous->empty()) {
    const auto place = read_response_id(*previous);
    if (!place || !find_response(*place)) return call.answer(unknown_response(*previous, "previous_response_id"));
    *conversation = place->run.text;
    key.find_refusal = [place = *place](journal::Store& store) { return find_newer_response(store, place); };
  }
  key.notes.push_back(request.to_note());
  using Form = ResponseBody::Form;
  const Form form = wanted->is_streamed ? Form::Streamed : *is_background ? Form::AsItIsNow : Form::Created;
  const auto on_reply = [this, form, answer = call.answer](runtime::HostReply reply) {
    if (!reply) return answer(make_answer(reply.error()));
    HttpAnswer given;
    given.is_streamed = form == Form::Streamed;
    given.head.headers.emplace_back("X-Tenon-Conversation", reply->run.text);
    // The message was accepted, whatever follows: a client that repeated it automatically would say it twice.
    given.head.headers.emplace_back("X-Should-Retry", "false");
    if (given.is_streamed) {
      given.head.content_type = "text/event-stream";
      given.head.headers.emplace_back("Cache-Control", "no-store");
    }
    given.body = make_later(reply->run, [this, form, place = ResponsePlace{reply->run, reply->after}] {
      return make_response(place.id(), form);
    });
    answer(std::move(given));
  };
  say({wanted->entry, std::move(*conversation), std::move(*text)}, std::move(key), call.answer, on_reply);
}

}  // namespace tenon::server
