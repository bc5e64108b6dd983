#include "effects/secret_vault.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/wire.h"
#include "effects/value_form.h"
#include "types/table/type_parts.h"
#include "vm/values/object.h"
#include "vm/values/render.h"
#include "vm/values/text_size.h"

namespace tenon::effects {
namespace {

using types::Type;
using types::TypeId;
using types::TypeKind;
using types::TypeTable;
using vm::Tag;
using vm::Value;

/// A seal: the key that encrypted it, where the secret entered, and the bytes. The numbers are stored on disks.
enum : std::uint32_t { seal_key = 1, seal_run = 2, seal_effect = 3, seal_bytes = 4 };

/// Texts are padded to a multiple of this, so that the length of a seal reveals little about that of the secret.
constexpr std::size_t padded_to = 64;

std::string bounds_of(std::string_view run, std::string_view effect, std::string_view origin) {
  wire::Writer bounds;
  bounds.bytes("tenon secret");
  bounds.bytes(run);
  bounds.bytes(effect);
  bounds.bytes(origin);
  return bounds.take();
}

/// Traverses a value by its type, and replaces its secrets and strings.
class Exchange {
 public:
  explicit Exchange(const TypeTable& types) : types_(types) {}
  virtual ~Exchange() = default;

  [[nodiscard]] Value run(const Value& value, TypeId given, const std::string& path) {
    const TypeId id = types_.base(given);
    const Type type = types_.get(id);
    if (type.kind == TypeKind::Secret) {
      Value exchanged = secret(value, type.arguments[0], path);
      exchanged.set_label(value.label());
      return exchanged;
    }
    if (problem_ || !concerns(value, id)) return value;
    if (depth_ == recorded_depth_max) {
      problem_ = fmt::format("the value is nested more than {} deep", recorded_depth_max);
      return value;
    }
    // An object that occurs in several places is exchanged once, wherever its place does not matter.
    const bool is_kept = !names_places() && value.is_object() && value.object()->is_shared();
    if (is_kept) {
      if (const auto known = exchanged_.find({value.object(), id.index}); known != exchanged_.end()) {
        Value again = known->second;
        again.set_label(value.label());
        return again;
      }
    }
    ++depth_;
    Value exchanged = parts(value, id, type, path);
    --depth_;
    exchanged.set_label(value.label());
    if (is_kept) exchanged_.emplace(std::pair{value.object(), id.index}, exchanged);
    return exchanged;
  }
  [[nodiscard]] const std::optional<std::string>& problem() const { return problem_; }

 protected:
  void fail(std::string message) {
    if (!problem_) problem_ = std::move(message);
  }
  [[nodiscard]] const TypeTable& types() const { return types_; }

 private:
  /// For `sealed`, the type that `secret` precedes. `path`: of the value in the whole, such as `.accounts[0]`.
  [[nodiscard]] virtual Value secret(const Value& value, TypeId sealed, const std::string& path) = 0;
  [[nodiscard]] virtual Value text(const Value& value) { return value; }
  /// Whether the result of `secret` depends on the path. Then the whole must not be larger than a record takes.
  [[nodiscard]] virtual bool names_places() const { return false; }
  /// Whether anything in a value of the type may have to be replaced.
  [[nodiscard]] virtual bool concerns(const Value& value, TypeId type) = 0;

  Value parts(const Value& value, TypeId id, const Type& type, const std::string& path) {
    switch (value.tag()) {
      case Tag::String:
        return text(value);
      case Tag::List: {
        std::vector<Value> items;
        items.reserve(value.items().size());
        for (const Value& item : value.items()) {
          items.push_back(run(item, type.arguments[0], fmt::format("{}[{}]", path, items.size())));
        }
        return Value::list(std::move(items));
      }
      case Tag::Map: {
        std::vector<std::pair<Value, Value>> entries;
        for (const vm::MapEntry& entry : value.entries()) {
          entries.emplace_back(text(entry.key),
                               run(entry.value, type.arguments[0], fmt::format("{}[{}]", path, entries.size())));
        }
        return Value::map(std::move(entries));
      }
      case Tag::Record: {
        const bool is_struct = type.kind == TypeKind::Struct;
        std::vector<Value> fields;
        for (std::size_t at = 0; at < value.fields().size(); ++at) {
          const TypeId part = is_struct ? types_.struct_type(id).fields[at].type : type.arguments[at];
          const std::string name = is_struct ? types_.struct_type(id).fields[at].name : std::to_string(at);
          fields.push_back(run(value.fields()[at], part, fmt::format("{}.{}", path, name)));
        }
        return Value::record(value.type(), std::move(fields));
      }
      case Tag::Variant: {
        std::vector<Value> payload;
        for (std::size_t at = 0; at < value.fields().size(); ++at) {
          const TypeId part = payload_type(value, id, type, at);
          const bool is_option = type.kind == TypeKind::Option;
          payload.push_back(run(value.fields()[at], part, is_option ? path : fmt::format("{}.{}", path, at)));
        }
        return Value::variant(value.type(), value.case_index(), std::move(payload));
      }
      case Tag::Unit:
      case Tag::Boolean:
      case Tag::Integer:
      case Tag::Float:
      case Tag::Case:
      case Tag::Context:
      case Tag::Secret:
        break;
    }
    return value;
  }

  [[nodiscard]] TypeId payload_type(const Value& value, TypeId id, const Type& type, std::size_t at) const {
    if (type.kind == TypeKind::Option) return type.arguments[0];
    if (type.kind == TypeKind::Result) return value.case_index() == 0 ? type.arguments[0] : TypeTable::failure;
    return types_.enum_type(id).variants[value.case_index()].payload[at];
  }

  const TypeTable& types_;
  std::size_t depth_ = 0;
  std::map<std::pair<const vm::Object*, std::uint32_t>, Value> exchanged_;  ///< of an object as a value of a type
  std::optional<std::string> problem_;
};

/// The text in a seal, only for secrets of `run`, or for any run.
Result<std::string, std::string> open_seal(const SealingKey& key, const std::string& origin, std::string_view sealed,
                                           std::optional<std::string_view> wanted_run) {
  wire::Reader in(sealed);
  std::string_view key_id, run, effect, bytes;
  while (in.next_field()) {
    switch (in.number()) {
      case seal_key:
        key_id = in.bytes_value();
        break;
      case seal_run:
        run = in.bytes_value();
        break;
      case seal_effect:
        effect = in.bytes_value();
        break;
      case seal_bytes:
        bytes = in.bytes_value();
        break;
      default:
        in.reject();
    }
  }
  if (!in.is_good() || bytes.empty()) {
    return failure(fmt::format("the secret `{}` was not sealed in a form that this version of Tenon can read", origin));
  }
  if (key_id != key.id()) {
    return failure(
        fmt::format("the secret `{}` was sealed with the key {}, but the current key is {}", origin, key_id, key.id()));
  }
  if (wanted_run && run != *wanted_run) {
    return failure(fmt::format("the secret `{}` is sealed for the run {}, and not for this one", origin, run));
  }
  auto text = open_sealed(key, bytes, bounds_of(run, effect, origin));
  if (!text) return failure(fmt::format("the secret `{}` could not be decrypted: the data was modified", origin));
  return std::move(*text);
}

std::string make_seal(const SealingKey& key, const std::string& origin, std::string text, std::string_view run,
                      std::string_view effect) {
  // JSON does not have an end marker, so trailing spaces are ignored.
  text.resize((text.size() + padded_to - 1) / padded_to * padded_to, ' ');
  wire::Writer out;
  out.present_field(seal_key, key.id());
  out.field(seal_run, run);
  out.field(seal_effect, effect);
  out.present_field(seal_bytes, tenon::seal(key, text, bounds_of(run, effect, origin)));
  return out.take();
}

/// Decrypts seals. The key is available; a seal that cannot be decrypted is reported.
class Opening final : public Exchange {
 public:
  /// `run`: only the secrets of this run are decrypted; empty: those of any run.
  Opening(const TypeTable& types, const SealingKey& key, std::optional<std::string_view> run)
      : Exchange(types), key_(key), run_(run) {}

  [[nodiscard]] Value secret(const Value& value, TypeId sealed, const std::string&) override {
    if (value.tag() != Tag::Secret) return value;  // passed in clear text by a test's script
    const vm::SecretObject& secret = vm::secret_of(value);
    const auto text = open_seal(key_, secret.origin, secret.sealed, run_);
    if (!text) {
      fail(text.error());
      return value;
    }
    auto read = read_value(*text, sealed, types());
    if (!read) {
      fail(fmt::format("the secret `{}` is no longer a valid {}", secret.origin, types().describe(sealed)));
      return value;
    }
    return std::move(*read);
  }

 private:
  [[nodiscard]] bool concerns(const Value&, TypeId type) override { return types::holds_secret(types(), type); }

  const SealingKey& key_;
  std::optional<std::string_view> run_;
};

class Sealing final : public Exchange {
 public:
  Sealing(const TypeTable& types, const SealingKey& key, const SecretEntry& entry)
      : Exchange(types), key_(key), entry_(entry), opening_(types, key, std::nullopt) {}

 private:
  [[nodiscard]] bool concerns(const Value&, TypeId type) override { return types::holds_secret(types(), type); }
  [[nodiscard]] bool names_places() const override { return true; }

  [[nodiscard]] Value secret(const Value& value, TypeId sealed, const std::string& path) override {
    const Value open = opening_.secret(value, sealed, path);
    if (opening_.problem()) fail(*opening_.problem());
    std::string text;
    if (problem()) return value;
    if (const auto written = write_value(open, sealed, types(), text); !written) {
      fail("a secret cannot be written: " + written.error().message);
      return value;
    }
    const std::string origin = std::string(entry_.origin) + path;
    return Value::secret(origin, make_seal(key_, origin, std::move(text), entry_.run, entry_.effect));
  }

  const SealingKey& key_;
  const SecretEntry& entry_;
  Opening opening_;
};

class Scrubbing final : public Exchange {
 public:
  Scrubbing(const TypeTable& types, const std::vector<std::string>& secrets) : Exchange(types), secrets_(secrets) {}

 private:
  [[nodiscard]] bool concerns(const Value& value, TypeId) override { return value.tag() != Tag::Context; }
  [[nodiscard]] Value secret(const Value& value, TypeId, const std::string&) override { return value; }
  [[nodiscard]] Value text(const Value& value) override {
    std::string clean = scrub(std::string(value.as_text()), secrets_);
    return clean == value.as_text() ? value : Value::string(std::move(clean));
  }

  const std::vector<std::string>& secrets_;
};

/// The strings in a decrypted secret that are long enough to be searched for.
void list_texts(const Value& value, std::vector<std::string>& texts) {
  switch (value.tag()) {
    case Tag::String:
      if (value.as_text().size() >= scrubbed_secret_bytes_min) texts.emplace_back(value.as_text());
      return;
    case Tag::List:
      for (const Value& item : value.items()) list_texts(item, texts);
      return;
    case Tag::Map:
      for (const vm::MapEntry& entry : value.entries()) list_texts(entry.value, texts);
      return;
    case Tag::Record:
    case Tag::Variant:
      for (const Value& field : value.fields()) list_texts(field, texts);
      return;
    case Tag::Unit:
    case Tag::Boolean:
    case Tag::Integer:
    case Tag::Float:
    case Tag::Case:
    case Tag::Context:
    case Tag::Secret:
      return;
  }
}

/// Decrypts, and records the strings.
class ListingOpening final : public Exchange {
 public:
  ListingOpening(const TypeTable& types, const SealingKey& key, std::string_view run, std::vector<std::string>& texts)
      : Exchange(types), opening_(types, key, run), texts_(texts) {}

 private:
  [[nodiscard]] bool concerns(const Value&, TypeId type) override { return types::holds_secret(types(), type); }
  [[nodiscard]] Value secret(const Value& value, TypeId sealed, const std::string& path) override {
    Value open = opening_.secret(value, sealed, path);
    if (opening_.problem()) {
      fail(*opening_.problem());
    } else {
      list_texts(open, texts_);
    }
    return open;
  }

  Opening opening_;
  std::vector<std::string>& texts_;
};

}  // namespace

Result<const SealingKey*, SecretError> SecretVault::key(KeyUse use) {
  if (!key_) {
    auto found = source_(use);
    if (!found) return failure(SecretError{std::move(found.error())});
    key_ = *found;
  }
  return &*key_;
}

Result<std::string, SecretError> SecretVault::prepare() {
  const auto found = key(KeyUse::Seal);
  if (!found) return failure(found.error());
  return (*found)->id();
}

Result<void, SecretError> SecretVault::require(std::string_view key_id) {
  const auto found = key(KeyUse::Open);
  if (!found) return failure(found.error());
  if ((*found)->id() == key_id) return {};
  return failure(SecretError{fmt::format(
      "its secrets were sealed with the key {}, but the current key is {}: set TENON_SECRET_KEY to the first one",
      key_id, (*found)->id())});
}

std::optional<Hash> SecretVault::keyed_hash(std::string_view purpose, std::string_view bytes) {
  const auto found = key(KeyUse::Open);
  if (!found) return std::nullopt;
  return (*found)->keyed_hash(purpose, bytes);
}

Result<Value, SecretError> SecretVault::seal(const Value& value, TypeId type, const TypeTable& types,
                                             const SecretEntry& entry) {
  if (!types::holds_secret(types, type)) return value;
  const auto found = key(KeyUse::Seal);
  if (!found) return failure(found.error());
  if (vm::is_text_over(value, types, recorded_bytes_max)) return failure(SecretError{too_long_to_record("the text")});
  Sealing sealing(types, **found, entry);
  Value sealed = sealing.run(value, type, "");
  if (sealing.problem()) return failure(SecretError{*sealing.problem()});
  return sealed;
}

Result<Value, SecretError> SecretVault::open(const Value& value, TypeId type, const TypeTable& types,
                                             std::string_view run, std::vector<std::string>& texts) {
  if (!types::holds_secret(types, type)) return value;
  const auto found = key(KeyUse::Open);
  if (!found) return failure(found.error());
  ListingOpening opening(types, **found, run, texts);
  Value open = opening.run(value, type, "");
  if (opening.problem()) return failure(SecretError{*opening.problem()});
  return open;
}

Result<std::string, SecretError> SecretVault::reseal(std::string_view json, std::string_view run,
                                                     std::string_view effect) {
  std::string text;
  while (const auto next = find_seal(json)) {
    const auto found = key(KeyUse::Open);
    if (!found) return failure(found.error());
    const auto secret = read_value(json.substr(next->begin, next->size), seal_type_.secret, seal_type_.table);
    if (!secret) return failure(SecretError{secret.error().message});
    const vm::SecretObject& sealed = vm::secret_of(*secret);
    auto opened = open_seal(**found, sealed.origin, sealed.sealed, std::nullopt);
    if (!opened) return failure(SecretError{std::move(opened.error())});
    const Value again =
        Value::secret(sealed.origin, make_seal(**found, sealed.origin, std::move(*opened), run, effect));
    text += json.substr(0, next->begin);
    static_cast<void>(write_value(again, seal_type_.secret, seal_type_.table, text));
    json.remove_prefix(next->begin + next->size);
  }
  return text += json;
}

Result<std::string, SecretError> SecretVault::seal_text(std::string_view text, std::string_view purpose) {
  const auto found = key(KeyUse::Seal);
  if (!found) return failure(found.error());
  return tenon::seal(**found, text, bounds_of("", "", purpose));
}

Result<std::string, SecretError> SecretVault::open_text(std::string_view sealed, std::string_view purpose) {
  const auto found = key(KeyUse::Open);
  if (!found) return failure(found.error());
  auto text = open_sealed(**found, sealed, bounds_of("", "", purpose));
  if (!text)
    return failure(SecretError{"it could not be decrypted: it was modified or encrypted with a different key"});
  return std::move(*text);
}

std::string scrub(std::string text, const std::vector<std::string>& secrets) {
  for (const std::string& secret : secrets) {
    if (secret.size() < scrubbed_secret_bytes_min) continue;
    for (std::size_t at = text.find(secret); at != std::string::npos;
         at = text.find(secret, at + vm::shown_secret.size())) {
      text.replace(at, secret.size(), vm::shown_secret);
    }
  }
  return text;
}

Value scrub(const Value& value, TypeId type, const TypeTable& types, const std::vector<std::string>& secrets) {
  if (secrets.empty()) return value;
  return Scrubbing(types, secrets).run(value, type, "");
}

}  // namespace tenon::effects
