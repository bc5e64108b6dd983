#include "base/sealing.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <memory>
#include <vector>

#include "base/ascii.h"
#include "base/ensure.h"

namespace tenon {
namespace {

/// Sealed bytes: the version of the format, nonce, tag, ciphertext.
constexpr char sealed_form = 1;
constexpr std::size_t nonce_size = 12;
constexpr std::size_t tag_size = 16;
constexpr std::size_t head_size = 1 + nonce_size + tag_size;

using CipherContext = std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)>;

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* bytes_of(std::string& text) {
  return reinterpret_cast<unsigned char*>(text.data());
}

/// The input of the HMAC: the plaintext and its bounds, encoded so that different pairs always differ.
std::string with_length(std::string_view first, std::string_view second) {
  std::string both;
  for (unsigned shift = 0; shift < 64; shift += 8) both += static_cast<char>(std::uint64_t{first.size()} >> shift);
  both += first;
  both += second;
  return both;
}

}  // namespace

std::optional<SealingKey> SealingKey::from_bytes(std::string_view raw) {
  if (raw.size() != size) return std::nullopt;
  SealingKey key;
  std::memcpy(key.bytes_.data(), raw.data(), size);
  return key;
}

std::optional<SealingKey> SealingKey::from_hex(std::string_view digits) {
  std::string lower = lower_case(trimmed(digits));
  const auto bytes = Hash::from_hex(lower);
  OPENSSL_cleanse(lower.data(), lower.size());
  return bytes ? from_bytes(bytes->view()) : std::nullopt;
}

SealingKey SealingKey::random() {
  SealingKey key;
  ENSURE(RAND_bytes(key.bytes_.data(), static_cast<int>(size)) == 1);
  return key;
}

SealingKey::~SealingKey() {
  OPENSSL_cleanse(bytes_.data(), bytes_.size());
}

std::string SealingKey::reveal_hex() const {
  Hash bytes;
  bytes.bytes = bytes_;
  return bytes.hex();
}

std::string SealingKey::id() const {
  return keyed_hash("id", {}).hex().substr(0, 16);
}

Hash SealingKey::keyed_hash(std::string_view purpose, std::string_view bytes) const {
  const std::string input = with_length(purpose, bytes);
  Hash hash;
  unsigned int length = 0;
  const unsigned char* const done = HMAC(EVP_sha256(), bytes_.data(), static_cast<int>(size), bytes_of(input),
                                         input.size(), hash.bytes.data(), &length);
  ENSURE(done != nullptr && length == Hash::size);
  return hash;
}

std::string seal(const SealingKey& key, std::string_view bytes, std::string_view bound) {
  // Separate keys for the nonce and for the cipher, so that neither reveals anything about the other.
  const Hash cipher_key = key.keyed_hash("cipher", {});
  const Hash nonce = key.keyed_hash("nonce", with_length(bound, bytes));
  std::string sealed(head_size + bytes.size(), '\0');
  sealed[0] = sealed_form;
  std::memcpy(sealed.data() + 1, nonce.bytes.data(), nonce_size);
  const CipherContext context(EVP_CIPHER_CTX_new(), &EVP_CIPHER_CTX_free);
  int length = 0;
  const bool done =
      context != nullptr &&
      EVP_EncryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, cipher_key.bytes.data(), nonce.bytes.data()) == 1 &&
      EVP_EncryptUpdate(context.get(), nullptr, &length, bytes_of(bound), static_cast<int>(bound.size())) == 1 &&
      EVP_EncryptUpdate(context.get(), bytes_of(sealed) + head_size, &length, bytes_of(bytes),
                        static_cast<int>(bytes.size())) == 1 &&
      EVP_EncryptFinal_ex(context.get(), bytes_of(sealed) + sealed.size(), &length) == 1 &&
      EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_GET_TAG, tag_size, sealed.data() + 1 + nonce_size) == 1;
  ENSURE(done);
  return sealed;
}

std::optional<std::string> open_sealed(const SealingKey& key, std::string_view sealed, std::string_view bound) {
  if (sealed.size() < head_size || sealed[0] != sealed_form) return std::nullopt;
  const Hash cipher_key = key.keyed_hash("cipher", {});
  const std::string_view nonce = sealed.substr(1, nonce_size);
  std::string tag(sealed.substr(1 + nonce_size, tag_size));
  const std::string_view hidden = sealed.substr(head_size);
  std::string bytes(hidden.size(), '\0');
  const CipherContext context(EVP_CIPHER_CTX_new(), &EVP_CIPHER_CTX_free);
  ENSURE(context != nullptr);
  int length = 0;
  const bool done =
      EVP_DecryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, cipher_key.bytes.data(), bytes_of(nonce)) == 1 &&
      EVP_DecryptUpdate(context.get(), nullptr, &length, bytes_of(bound), static_cast<int>(bound.size())) == 1 &&
      EVP_DecryptUpdate(context.get(), bytes_of(bytes), &length, bytes_of(hidden), static_cast<int>(hidden.size())) ==
          1 &&
      EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_SET_TAG, tag_size, tag.data()) == 1 &&
      EVP_DecryptFinal_ex(context.get(), bytes_of(bytes) + bytes.size(), &length) == 1;
  if (done) return bytes;
  OPENSSL_cleanse(bytes.data(), bytes.size());
  return std::nullopt;
}

std::string to_base64(std::string_view bytes) {
  std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');  // OpenSSL adds a terminating zero
  const int length = EVP_EncodeBlock(bytes_of(text), bytes_of(bytes), static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(length));
  return text;
}

std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::string bytes(3 * (text.size() / 4), '\0');
  if (text.empty()) return bytes;
  const int length = EVP_DecodeBlock(bytes_of(bytes), bytes_of(text), static_cast<int>(text.size()));
  if (length < 0) return std::nullopt;
  bytes.resize(static_cast<std::size_t>(length));
  for (std::size_t at = text.size(); at > text.size() - 2 && text[at - 1] == '='; --at) bytes.pop_back();
  return bytes;
}

}  // namespace tenon
