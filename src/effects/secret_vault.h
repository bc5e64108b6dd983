#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/sealing.h"
#include "types/table/type_table.h"
#include "vm/values/value.h"

/// Secrets are encrypted where they enter and decrypted where an extern receives them. Everything in between, such as
/// the machine, the journal and all output, has only the ciphertext.
namespace tenon::effects {

/// Parts of a decrypted secret of at least this many bytes are removed from an extern's results. A shorter part occurs
/// in any text by chance.
inline constexpr std::size_t scrubbed_secret_bytes_min = 4;

struct SecretError {
  std::string message;  ///< says what to do
};

/// What the key is needed for: a key may be created to encrypt; it must exist to decrypt.
enum class KeyUse : std::uint8_t { Seal, Open };
using KeySource = std::function<Result<SealingKey, std::string>(KeyUse use)>;

/// Where a secret entered: the run, and what produced the secret in it.
struct SecretEntry {
  std::string_view run;     ///< its name; empty for a run without a store
  std::string_view effect;  ///< the key of the effect that produced it; empty for an argument of the run
  std::string_view origin;  ///< its name for people: the argument's or the function's
};

/// Encrypts and decrypts. Not thread-safe.
class SecretVault {
 public:
  /// `source` is called when a key is first needed.
  explicit SecretVault(KeySource source) : source_(std::move(source)) {}

  /// Ensures that there is a key before a step whose secrets could not be encrypted otherwise; returns its id.
  [[nodiscard]] Result<std::string, SecretError> prepare();
  /// Ensures that the key with this id, which encrypted a run's secrets, is available.
  [[nodiscard]] Result<void, SecretError> require(std::string_view key_id);
  /// Whether there is a key, without creating one.
  [[nodiscard]] bool has_key() { return key(KeyUse::Open).has_value(); }
  /// SealingKey::keyed_hash if there is a key, without creating one: for data that may contain a secret.
  [[nodiscard]] std::optional<Hash> keyed_hash(std::string_view purpose, std::string_view bytes);

  /// Encrypts each secret in the value of this type. A secret that is already encrypted comes from another run: it is
  /// decrypted, and encrypted for this run.
  [[nodiscard]] Result<vm::Value, SecretError> seal(const vm::Value& value, types::TypeId type,
                                                    const types::TypeTable& types, const SecretEntry& entry);
  /// The value for native code: a `secret T` becomes a T. The decrypted strings are added to `texts`.
  [[nodiscard]] Result<vm::Value, SecretError> open(const vm::Value& value, types::TypeId type,
                                                    const types::TypeTable& types, std::string_view run,
                                                    std::vector<std::string>& texts);

  /// The text of values with each secret decrypted and encrypted again for another entry, under its name: for a run
  /// that reuses outcomes of another run.
  [[nodiscard]] Result<std::string, SecretError> reseal(std::string_view json, std::string_view run,
                                                        std::string_view effect);

  /// Text for other processes with the same key: what a process leaves in the store for another one.
  [[nodiscard]] Result<std::string, SecretError> seal_text(std::string_view text, std::string_view purpose);
  [[nodiscard]] Result<std::string, SecretError> open_text(std::string_view sealed, std::string_view purpose);

 private:
  [[nodiscard]] Result<const SealingKey*, SecretError> key(KeyUse use);

  /// For decrypting secrets whose types are not known.
  struct AnySecret {
    types::TypeTable table;
    types::TypeId secret = table.secret(types::TypeTable::string);
  };

  KeySource source_;
  std::optional<SealingKey> key_;
  AnySecret seal_type_;
};

/// The text with each secret replaced with `[secret]`.
[[nodiscard]] std::string scrub(std::string text, const std::vector<std::string>& secrets);
/// The same for each string in a value of the type, except for its own secrets.
[[nodiscard]] vm::Value scrub(const vm::Value& value, types::TypeId type, const types::TypeTable& types,
                              const std::vector<std::string>& secrets);

}  // namespace tenon::effects
