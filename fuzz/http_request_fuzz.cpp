// Arbitrary bytes as a request's target (the first line) and its body: an accepted target has decoded segments and a
// host without anything else, an accepted body has only known fields, and a rejection is reported as JSON. As a body in
// chunks, they are read the same however they arrive.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "base/ensure.h"
#include "json/json.h"
#include "runtime/host/requests/inbox_command.h"
#include "server/api.h"
#include "server/chunked_body.h"
#include "server/host_name.h"
#include "server/openai_fields.h"
#include "server/request_head.h"

namespace {

/// The status of the refusal and nothing, or 0 and the chunks so far. `step`: how many bytes arrive at once.
std::pair<int, std::string> read_chunks(std::string_view bytes, std::size_t step) {
  constexpr std::size_t chunks_max = 200;
  constexpr std::size_t around_max = 50;
  tenon::server::ChunkedBody body(chunks_max, around_max);
  for (std::size_t at = 0; at < bytes.size() && !body.is_complete(); at += step) {
    const auto taken = body.take(bytes.substr(at, step));
    if (!taken) return {taken.error().status, ""};
    ENSURE(*taken <= step && body.body().size() <= chunks_max);
  }
  return {0, body.body()};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tenon;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::size_t line = bytes.find('\n');
  server::HttpRequest request;
  request.method = "POST";
  request.target = std::string(bytes.substr(0, line));
  request.body = line == std::string_view::npos ? std::string() : std::string(bytes.substr(line + 1));
  server::resolve_absolute_target(request);
  const std::string_view host = request.header("host");
  ENSURE(server::is_host(host));
  if (server::is_local_host(host)) ENSURE(host.find_first_of("/@#?, ") == std::string_view::npos);
  if (const auto target = server::parse_target(request.target)) {
    ENSURE(request.target.front() == '/');
    for (const auto& [name, value] : target->query) ENSURE(!name.empty());
  }
  server::HeadScan head;
  if (const auto scanned = head.scan(bytes)) {
    ENSURE(*scanned ? **scanned <= bytes.size() && bytes.substr(0, **scanned).ends_with("\r\n\r\n")
                    : scanned->error().status >= 400);
  }
  ENSURE(read_chunks(bytes, 1) == read_chunks(bytes, size + 1));
  int answers = 0;
  const server::OnAnswer answer = [&](server::HttpAnswer given) {
    ++answers;
    ENSURE(given.head.status >= 400 && nlohmann::json::accept(given.head.body));
  };
  const auto body = server::read_body(request, answer, {"fn", "args", "input", "messages", "wait"});
  ENSURE(body.has_value() == (answers == 0));
  if (body) {
    bool is_wrong = false;
    static_cast<void>(server::find_text(*body, "fn", answer, is_wrong));
    ENSURE(is_wrong == (answers == 1));
    static_cast<void>(server::read_user_text(body->find("messages"), {"messages"}));
    static_cast<void>(server::read_user_text(body->find("input"), {"input", "input_text", true}));
    if (const auto problem = server::find_field_problem(*body, server::chat_fields())) {
      ENSURE(nlohmann::json::accept(server::make_error(*problem).body));
    }
  }
  static_cast<void>(runtime::decode_reply(request.body));
  if (const auto command = runtime::decode_command(request.body)) {
    const auto again = runtime::decode_command(runtime::encode(*command));
    ENSURE(again.has_value() && runtime::encode(*again) == runtime::encode(*command));
  }
  return 0;
}
