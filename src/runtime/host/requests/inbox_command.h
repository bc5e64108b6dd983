#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "effects/secret_vault.h"
#include "journal/ownership.h"
#include "runtime/host/requests/host_reply.h"
#include "runtime/host/requests/run_action.h"

/// What a process leaves in a store's inbox for the owner of a run, and what comes back.
namespace tenon::runtime {

struct InboxCommand {
  RunAction action;
  RequestKey key = {};  ///< `find_refusal` is not sent
  /// Refused with `Raced` unless the run has exactly these records, and nothing in progress.
  std::optional<std::uint64_t> if_records = {};
};

/// JSON: {"do": the action, its fields, "key", "fingerprint", "notes", "if_records"}.
[[nodiscard]] std::string encode(const InboxCommand& command);
/// The message says what is wrong with the bytes.
[[nodiscard]] Result<InboxCommand, std::string> decode_command(std::string_view bytes);

/// The same under the store's key, of a command that may have a secret in it: JSON {"sealed":…}, base 64.
[[nodiscard]] Result<std::string, std::string> seal_command(const InboxCommand& command, effects::SecretVault& secrets);
/// Decodes a command, encrypted or not; `secrets` may be null.
[[nodiscard]] Result<InboxCommand, std::string> open_command(std::string_view bytes, effects::SecretVault* secrets);

/// Whether only a process that has the store's key can decode it.
[[nodiscard]] bool is_sealed(std::string_view bytes);

/// JSON: {"run", "wait", "after"}, or {"error", "kind", "wait", "by"}. `owner`: who replies.
[[nodiscard]] std::string encode_reply(const HostReply& reply, journal::OwnerId owner);
/// A reply that cannot be read is `Unavailable`.
[[nodiscard]] HostReply decode_reply(std::string_view bytes);

}  // namespace tenon::runtime
