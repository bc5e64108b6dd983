#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "effects/secret_vault.h"

/// What a process that does not own the store leaves in its inbox for the one that does, and what comes back.
namespace tenon::runtime {

struct InboxCommand {
  enum class Verb : unsigned char { Resume, Cancel, Retry };
  Verb verb = Verb::Resume;
  std::string wait;    ///< Resume; may be empty when the run asks one thing
  std::string input;   ///< Resume: text types raw, the rest as JSON
  std::string reason;  ///< Cancel
  friend bool operator==(const InboxCommand&, const InboxCommand&) = default;
};

/// JSON: {"do":"resume","wait":…,"input":…}, {"do":"cancel","reason":…} or {"do":"retry"}.
[[nodiscard]] std::string encode(const InboxCommand& command);
/// The message says what is wrong with the bytes.
[[nodiscard]] Result<InboxCommand, std::string> decode_command(std::string_view bytes);

/// The same under the store's key, of a command that may have a secret in it: JSON {"sealed":…}, base 64.
[[nodiscard]] Result<std::string, std::string> seal_command(const InboxCommand& command, effects::SecretVault& secrets);
/// Decodes a command, encrypted or not; `secrets` may be null.
[[nodiscard]] Result<InboxCommand, std::string> open_command(std::string_view bytes, effects::SecretVault* secrets);

/// Why the command was not performed, or nothing: it was. JSON: {} or {"error":…}.
struct InboxReply {
  std::optional<std::string> error;
  friend bool operator==(const InboxReply&, const InboxReply&) = default;
};
[[nodiscard]] std::string encode(const InboxReply& reply);
[[nodiscard]] Result<InboxReply, std::string> decode_reply(std::string_view bytes);

}  // namespace tenon::runtime
