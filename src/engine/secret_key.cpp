#include "engine/secret_key.h"

#include <fmt/format.h>

#include "base/private_file.h"
#include "journal/open_store.h"

namespace tenon::engine {
namespace {

constexpr std::string_view form_of_key = "64 hexadecimal digits, as `openssl rand -hex 32` prints them";

Result<SealingKey, std::string> read_key(const std::string& text, std::string_view holder) {
  if (const auto key = SealingKey::from_hex(text)) return *key;
  return failure(fmt::format("{} does not contain a key: a key is {}", holder, form_of_key));
}

}  // namespace

effects::KeySource secret_keys(const std::string& store, const System& system) {
  if (store.empty()) return [](effects::KeyUse) -> Result<SealingKey, std::string> { return SealingKey::random(); };
  return [path = journal::file_of_store(store),
          given = system.variable(secret_key_variable)](effects::KeyUse use) -> Result<SealingKey, std::string> {
    if (!given.empty()) return read_key(given, secret_key_variable);
    if (!path) {
      return failure(
          fmt::format("the key for the secrets is missing: {} is not set; for a store in a database, set it "
                      "to {}, the same in all processes that use the store",
                      secret_key_variable, form_of_key));
    }
    const std::string file = *path + ".key";
    auto text = read_private_file(file);
    if (!text && text.error().is_missing && use == effects::KeyUse::Seal) {
      if (const auto made = create_private_file(file, SealingKey::random().reveal_hex() + "\n", *path); !made) {
        return failure(fmt::format("cannot write the key of the secrets to `{}`: {}", file, made.error().message));
      }
      text = read_private_file(file);
    }
    if (text) return read_key(*text, file);
    if (!text.error().is_missing) return failure(fmt::format("cannot read `{}`: {}", file, text.error().message));
    return failure(fmt::format("the key for the secrets is missing: {} is not set, and there is no file `{}`",
                               secret_key_variable, file));
  };
}

}  // namespace tenon::engine
