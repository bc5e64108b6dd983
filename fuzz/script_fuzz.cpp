// Arbitrary bytes as a scripted model's script and as a recording: they are parsed, or rejected with a location and a
// message. A parsed exchange of a recording survives a round trip.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/ensure.h"
#include "inference/recorded/recording.h"
#include "inference/scripted/script.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tenon::inference;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto script = parse_script(bytes)) {
    for (const ScriptRule& rule : script->rules) ENSURE(!rule.answers.empty());
  } else {
    ENSURE(!script.error().message.empty() && script.error().line > 0 && script.error().column > 0);
  }
  const auto recording = parse_recording(bytes);
  if (!recording) {
    ENSURE(!recording.error().message.empty());
    return 0;
  }
  for (const RecordedExchange& exchange : recording->exchanges) {
    const auto again =
        parse_recording(encode_exchange(canonical_request(exchange.request), exchange.request.label, exchange.outcome));
    ENSURE(again.has_value() && again->exchanges.size() == 1);
    ENSURE(again->exchanges.front().request_hash == exchange.request_hash);
  }
  return 0;
}
