// Calls an extern in a separate process: the request and the reply.

#include <fmt/format.h>
#include <unistd.h>

#include "effects/value_form.h"
#include "tools/native/extern_table.h"
#include "tools/native/promises.h"
#include "tools/process/process_limits.h"
#include "tools/process/process_supervisor.h"
#include "tools/process/worker_message.h"

namespace tenon::tools {

using types::FailureKind;

Result<std::string, ExternError> ExternTable::worker_request(std::uint32_t subject,
                                                             std::span<const vm::Value> arguments, std::string_view key,
                                                             const std::optional<std::string>& input) const {
  const bytecode::Extern& declared = program_->externs[subject];
  const Binding& binding = bindings_[subject];
  if (binding.python != nullptr) {
    return python_request(declared, program_->types, arguments, key, input, binding.blame);
  }
  WorkerRequest request;
  request.arguments = "[";
  for (std::size_t at = 0; at < arguments.size(); ++at) {
    if (at > 0) request.arguments += ',';
    const auto written = effects::write_value(arguments[at], declared.parameters[at], program_->types,
                                              request.arguments, effects::SecretForm::Open);
    if (!written) {
      return failure(ExternError{FailureKind::ToolFailed,
                                 "an argument cannot be passed to a process: " + written.error().message,
                                 binding.blame});
    }
  }
  request.arguments += ']';
  request.program = binding.worker_program;
  request.library = binding.library_path;
  request.key = key;
  request.input = input;
  request.parent = ::getpid();
  return encode(request);
}

ExternOutcome ExternTable::read_end(std::uint32_t subject, const ProcessEnd& end) const {
  const bytecode::Extern& declared = program_->externs[subject];
  const Binding& binding = bindings_[subject];
  const auto failed = [&](std::string message) {
    return failure(ExternError{FailureKind::ToolFailed, std::move(message), binding.blame});
  };
  switch (end.how) {
    case ProcessEnd::How::Replied:
      break;
    case ProcessEnd::How::Exited:
      return failed(fmt::format("its process exited with code {} without a result", end.code));
    case ProcessEnd::How::Signalled:
      return failed("its process was killed by " + describe_signal(end.code));
    case ProcessEnd::How::TooLong:
      return failed(
          fmt::format("its result is larger than {} MB, the maximum for a process", process_reply_bytes_max >> 20U));
    case ProcessEnd::How::NotStarted:
      return failed("its process cannot be started: " + end.problem);
  }
  if (binding.python != nullptr) return read_python_reply(declared, refinements_, end.reply, binding.blame);
  auto reply = decode_reply(end.reply);
  if (!reply) return failed("its process returned an invalid result");
  if (!reply->value) {
    reply->error.blame = binding.blame;
    return failure(std::move(reply->error));
  }
  auto value = effects::read_value(*reply->value, declared.result, program_->types, effects::SecretForm::Open);
  if (!value) return failed("the result: " + value.error().message);
  // The process may have written over more than its own memory.
  if (auto broken = find_broken_promise(refinements_, declared.result, *value)) return failed("the result: " + *broken);
  return std::move(*value);
}

}  // namespace tenon::tools
