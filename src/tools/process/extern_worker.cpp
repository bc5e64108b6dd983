#include "tools/process/extern_worker.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>
#include <string>

#include "bytecode/codec.h"
#include "effects/value_form.h"
#include "tools/native/extern_table.h"
#include "tools/native/native_library.h"
#include "tools/process/child_process.h"
#include "tools/process/process_limits.h"
#include "tools/process/worker_message.h"

namespace tenon::tools {
namespace {

constexpr int exit_without_reply = 70;

WorkerReply failed(std::string message) {
  WorkerReply reply;
  reply.error.message = std::move(message);
  return reply;
}

WorkerReply perform(const WorkerRequest& request) {
  auto decoded = bytecode::decode(request.program);
  if (!decoded || decoded->externs.size() != 1) return failed("the process received a program that it cannot read");
  const auto program = std::make_shared<const bytecode::Program>(std::move(*decoded));
  const bytecode::Extern& callee = program->externs.front();
  const auto libraries = NativeLibraries::open({{request.library}});
  if (!libraries) return failed(libraries.error().front().message);
  const auto table = ExternTable::bind(program, *libraries);
  if (!table) return failed(table.error().front().message);
  const auto arguments =
      effects::read_values(request.arguments, callee.parameters, program->types, effects::SecretForm::Open);
  if (!arguments) return failed("the process cannot read its arguments: " + arguments.error().message);
  auto outcome = (*table)->call(0, *arguments, {.key = request.key, .input = request.input, .is_cancelled = nullptr});
  WorkerReply reply;
  if (outcome) {
    std::string text;
    if (const auto written =
            effects::write_value(*outcome, callee.result, program->types, text, effects::SecretForm::Open);
        !written) {
      return failed("the result cannot be returned: " + written.error().message);
    }
    reply.value = std::move(text);
  } else {
    reply.error = std::move(outcome.error());
  }
  return reply;
}

std::string read_all(int descriptor) {
  std::string bytes;
  std::array<char, 65'536> buffer;
  for (;;) {
    const ssize_t count = ::read(descriptor, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return bytes;
    bytes.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::send(descriptor, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

}  // namespace

int run_extern_worker() {
  // What the function starts has no business with the socket.
  if (::fcntl(worker_descriptor, F_SETFD, FD_CLOEXEC) != 0) return exit_without_reply;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const auto request = decode_request(read_all(worker_descriptor));
  // A parent that ended before the line above sends no signal.
  if (!request || request->parent != ::getppid()) return exit_without_reply;
  const std::string reply = encode(perform(*request));
  return write_all(worker_descriptor, frame(reply)) ? 0 : exit_without_reply;
}

}  // namespace tenon::tools
