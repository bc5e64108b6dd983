#include "tools/process/worker_message.h"

#include "base/wire.h"

namespace tenon::tools {

std::string frame(std::string_view message) {
  std::string framed;
  framed.reserve(length_bytes + message.size());
  for (std::size_t at = 0; at < length_bytes; ++at) {
    framed += static_cast<char>(static_cast<unsigned char>(std::uint64_t{message.size()} >> (8 * at)));
  }
  return framed.append(message);
}

std::optional<std::uint64_t> framed_length(std::string_view received) {
  if (received.size() < length_bytes) return std::nullopt;
  std::uint64_t length = 0;
  for (std::size_t at = length_bytes; at > 0; --at) {
    length = (length << 8U) | static_cast<unsigned char>(received[at - 1]);
  }
  return length;
}

std::string encode(const WorkerRequest& request) {
  wire::Writer out;
  out.field(1, request.program);
  out.field(2, request.library);
  out.field(3, request.arguments);
  out.field(4, request.key);
  if (request.input) out.present_field(5, *request.input);
  out.field(6, static_cast<std::uint64_t>(request.parent));
  return out.take();
}

std::optional<WorkerRequest> decode_request(std::string_view bytes) {
  WorkerRequest request;
  wire::Reader in(bytes);
  while (in.next_field()) {
    switch (in.number()) {
      case 1:
        request.program = in.bytes_value();
        break;
      case 2:
        request.library = in.bytes_value();
        break;
      case 3:
        request.arguments = in.bytes_value();
        break;
      case 4:
        request.key = in.bytes_value();
        break;
      case 5:
        request.input = in.bytes_value();
        break;
      case 6:
        request.parent = static_cast<std::int64_t>(in.value());
        break;
      default:
        in.reject();
    }
  }
  return in.is_good() ? std::optional(std::move(request)) : std::nullopt;
}

std::string encode(const WorkerReply& reply) {
  wire::Writer out;
  if (reply.value) out.present_field(1, *reply.value);
  const ExternError& error = reply.error;
  if (error.question) out.present_field(2, *error.question);
  out.field(3, error.message);
  if (error.prompt) {
    wire::Writer prompt;
    prompt.field(1, error.prompt->agent);
    prompt.field(2, error.prompt->input);
    prompt.field(3, static_cast<std::uint64_t>(error.prompt->kind));
    out.present_field(4, prompt);
  }
  out.field(5, error.is_unavailable ? 1U : 0U);
  out.field(6, error.is_interrupted ? 1U : 0U);
  return out.take();
}

namespace {

std::optional<effects::AgentPrompt> read_prompt(std::string_view bytes) {
  effects::AgentPrompt prompt;
  wire::Reader in(bytes);
  while (in.next_field()) {
    switch (in.number()) {
      case 1:
        prompt.agent = in.bytes_value();
        break;
      case 2:
        prompt.input = in.bytes_value();
        break;
      case 3:
        prompt.kind = static_cast<vm::PromptKind>(in.value_up_to(1));
        break;
      default:
        in.reject();
    }
  }
  return in.is_good() ? std::optional(std::move(prompt)) : std::nullopt;
}

}  // namespace

std::optional<WorkerReply> decode_reply(std::string_view bytes) {
  WorkerReply reply;
  wire::Reader in(bytes);
  while (in.next_field()) {
    switch (in.number()) {
      case 1:
        reply.value = in.bytes_value();
        break;
      case 2:
        reply.error.question = in.bytes_value();
        break;
      case 3:
        reply.error.message = in.bytes_value();
        break;
      case 4:
        reply.error.prompt = read_prompt(in.bytes_value());
        if (!reply.error.prompt) in.reject();
        break;
      case 5:
        reply.error.is_unavailable = in.value_up_to(1) != 0;
        break;
      case 6:
        reply.error.is_interrupted = in.value_up_to(1) != 0;
        break;
      default:
        in.reject();
    }
  }
  return in.is_good() ? std::optional(std::move(reply)) : std::nullopt;
}

}  // namespace tenon::tools
