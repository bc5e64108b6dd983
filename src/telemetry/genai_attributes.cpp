#include "telemetry/genai_attributes.h"

#include "json/json.h"
#include "vm/values/render.h"

namespace tenon::telemetry {
namespace {

std::string finish_reason(inference::Finish finish) {
  switch (finish) {
    case inference::Finish::Complete:
      return "stop";
    case inference::Finish::CutOff:
      return "length";
    case inference::Finish::Refused:
      return "content_filter";
  }
  return "";
}

Json text_message(std::string_view role, const std::string& text) {
  return Json::object({{"role", role}, {"parts", Json::array({Json::object({{"type", "text"}, {"content", text}})})}});
}

}  // namespace

void describe_turn(Span& span, const std::string& title, bool is_conversation, const std::string& run,
                   std::uint64_t turn) {
  const std::string operation = is_conversation ? "invoke_agent" : "invoke_workflow";
  span.name = operation + " " + title;
  span.set("gen_ai.operation.name", operation);
  span.set(is_conversation ? "gen_ai.agent.name" : "gen_ai.workflow.name", title);
  if (!run.empty()) span.set("gen_ai.conversation.id", run);
  if (turn > 0) span.set("tenon.turn", static_cast<std::int64_t>(turn));
}

void describe_request(Span& span, const inference::GenerationRequest& request, std::uint32_t attempt) {
  span.set("gen_ai.operation.name", std::string("chat"));
  span.set("gen_ai.output.type", std::string(request.schema ? "json" : "text"));
  span.set("gen_ai.request.temperature", static_cast<double>(request.sampling.temperature));
  span.set("gen_ai.request.seed", static_cast<std::int64_t>(request.sampling.seed));
  span.set("gen_ai.request.max_tokens", static_cast<std::int64_t>(request.sampling.tokens_max));
  span.set("code.function.name", request.label);
  if (attempt > 0) span.set("tenon.repair", static_cast<std::int64_t>(attempt));
}

void describe_usage(Span& span, const inference::Usage& usage) {
  span.set("gen_ai.usage.input_tokens", static_cast<std::int64_t>(usage.prompt));
  span.set("gen_ai.usage.cache_read.input_tokens", static_cast<std::int64_t>(usage.reused));
  span.set("gen_ai.usage.output_tokens", static_cast<std::int64_t>(usage.generated));
  if (usage.attempts > 1) span.set("tenon.transport_attempts", static_cast<std::int64_t>(usage.attempts));
}

void describe_answer(Span& span, const inference::Answer& answer) {
  if (!answer.model.empty()) span.set("gen_ai.response.model", answer.model);
  span.set("gen_ai.response.finish_reasons", std::vector<std::string>{finish_reason(answer.finish)});
  describe_usage(span, answer.usage);
}

std::string error_name(inference::ModelErrorKind kind) {
  using Kind = inference::ModelErrorKind;
  switch (kind) {
    case Kind::Unreachable:
      return "unreachable";
    case Kind::TimedOut:
      return "timeout";
    case Kind::Rejected:
      return "rejected";
    case Kind::Misconfigured:
      return "misconfigured";
    case Kind::Overloaded:
      return "overloaded";
    case Kind::BadReply:
      return "bad_reply";
    case Kind::ContextFull:
      return "context_full";
    case Kind::Cancelled:
      return "cancelled";
    case Kind::ScriptEnded:
      return "script_ended";
  }
  return "";
}

std::string messages_json(const std::vector<inference::Message>& messages) {
  Json list = Json::array();
  for (const inference::Message& message : messages)
    list.push_back(text_message(role_name(message.role), message.text));
  return list.dump();
}

std::string answer_json(const inference::Answer& answer) {
  Json message = text_message("assistant", answer.text);
  message["finish_reason"] = finish_reason(answer.finish);
  return Json::array({std::move(message)}).dump();
}

std::string value_json(const vm::Value& value, const types::TypeTable& types) {
  std::string text;
  if (const auto written = vm::to_json(value, types, text); !written) {
    return Json(vm::describe(written.error())).dump();
  }
  return text;
}

std::string values_json(std::span<const vm::Value> values, const types::TypeTable& types) {
  std::string text = "[";
  for (const vm::Value& value : values) {
    if (text.size() > 1) text += ',';
    text += value_json(value, types);
  }
  return text + "]";
}

}  // namespace tenon::telemetry
