// Arbitrary bytes as the file of an exported run, unchanged and with a correct digest: the file is rejected, or
// encoding it again results in the same bytes. The bytes are also decoded as a batch.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/ensure.h"
#include "base/wire.h"
#include "journal/batch.h"
#include "journal/run_file.h"

namespace {

using namespace tenon;

void check_file(std::string_view bytes) {
  const auto file = journal::decode_run_file(bytes);
  if (!file) {
    ENSURE(!file.error().message.empty());
    return;
  }
  const std::string again = journal::encode_run_file(*file);
  const auto same = journal::decode_run_file(again);
  ENSURE(same.has_value() && journal::encode_run_file(*same) == again);
}

void check_batch(std::string_view bytes) {
  const auto batch = journal::decode_batch(Hash{}, bytes);
  if (!batch) return;
  const std::vector<std::string> records(batch->records.begin(), batch->records.end());
  const auto again = journal::encode_batch(Hash{}, records, batch->references);
  ENSURE(again.chain == batch->chain && journal::decode_batch(Hash{}, again.bytes).has_value());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  check_file(bytes);
  check_batch(bytes);
  // Without its last 34 bytes, an exported file has all of its fields except the digest.
  wire::Writer writer;
  writer.raw(bytes.substr(0, size - (size < 34 ? size : 34)));
  const Hash digest = sha256(writer.view());
  writer.present_field(5, digest.view());
  check_file(writer.view());
  return 0;
}
