#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/sealing.h"
#include "types/type_table.h"
#include "vm/value.h"

/// Secrets are sealed where they come in and opened where an extern takes them; all between, the machine, the journal
/// and whatever is shown, has the seal alone.
namespace tenon::effects {

/// Parts of an opened secret of at least this many bytes are looked for in what an extern gives back. A shorter one
/// stands in any text by chance.
inline constexpr std::size_t scrubbed_secret_bytes_min = 4;

struct SecretError {
  std::string message;  ///< with a way out
};

/// What the key is wanted for: to seal, one may be made; to open, it has to be there.
enum class KeyUse : std::uint8_t { Seal, Open };
using KeySource = std::function<Result<SealingKey, std::string>(KeyUse use)>;

/// Where a secret came in: the run, and what in it brought it.
struct SecretEntry {
  std::string_view run;     ///< its name; empty for a run without a store
  std::string_view effect;  ///< the key of the effect that gave it; empty for an argument of the run
  std::string_view origin;  ///< its name for people: the argument's or the function's
};

/// Seals and opens. One thread.
class SecretVault {
 public:
  /// `source` is asked when a key is first needed.
  explicit SecretVault(KeySource source) : source_(std::move(source)) {}

  /// Makes sure of a key before something happens whose secrets could not be sealed otherwise; gives its id.
  [[nodiscard]] Result<std::string, SecretError> prepare();
  /// Makes sure of the key with that id, which sealed a run's secrets.
  [[nodiscard]] Result<void, SecretError> require(std::string_view key_id);
  /// SealingKey::keyed_hash, when there is a key without making one: of what a secret may be part of.
  [[nodiscard]] std::optional<Hash> keyed_hash(std::string_view purpose, std::string_view bytes);

  /// The value, of the type, with each secret in it sealed. One that is sealed already comes from another run: it is
  /// opened and sealed for this one.
  [[nodiscard]] Result<vm::Value, SecretError> seal(const vm::Value& value, types::TypeId type,
                                                    const types::TypeTable& types, const SecretEntry& entry);
  /// The value as native code takes it: a `secret T` is a T. `texts` gets the texts that were sealed.
  [[nodiscard]] Result<vm::Value, SecretError> open(const vm::Value& value, types::TypeId type,
                                                    const types::TypeTable& types, std::string_view run,
                                                    std::vector<std::string>& texts);

  /// The text of values with each seal in it opened and sealed again for another entry, under the name that it has: of
  /// a run that takes something over from another one.
  [[nodiscard]] Result<std::string, SecretError> reseal(std::string_view json, std::string_view run,
                                                        std::string_view effect);

  /// Text for whom the vault's key is meant: what a process leaves for another one in the store.
  [[nodiscard]] Result<std::string, SecretError> seal_text(std::string_view text, std::string_view purpose);
  [[nodiscard]] Result<std::string, SecretError> open_text(std::string_view sealed, std::string_view purpose);

 private:
  [[nodiscard]] Result<const SealingKey*, SecretError> key(KeyUse use);

  /// For reading seals whose types are not at hand.
  struct AnySecret {
    types::TypeTable table;
    types::TypeId secret = table.secret(types::TypeTable::string);
  };

  KeySource source_;
  std::optional<SealingKey> key_;
  AnySecret seal_type_;
};

/// The text without the secrets: `[secret]` stands for each.
[[nodiscard]] std::string scrub(std::string text, const std::vector<std::string>& secrets);
/// The same of each text in a value of the type, its own secrets excepted.
[[nodiscard]] vm::Value scrub(const vm::Value& value, types::TypeId type, const types::TypeTable& types,
                              const std::vector<std::string>& secrets);

}  // namespace tenon::effects
