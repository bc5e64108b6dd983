#include "journal/batch.h"

#include "base/wire.h"

namespace tenon::journal {
namespace {

enum Field : std::uint32_t { RecordField = 1, ChecksumField = 2, ReferenceField = 3, ReferencesChecksumField = 4 };

std::uint64_t checksum_of(const Hash& hash) {
  std::uint64_t value = 0;
  for (unsigned at = 0; at < 8; ++at) value |= static_cast<std::uint64_t>(hash.bytes[at]) << (8 * at);
  return value;
}

/// A checksum of the references and of the records that they belong to.
std::uint64_t checksum_of(const Hash& chain, std::span<const Hash> references) {
  if (references.empty()) return checksum_of(sha256(chain.view()));
  std::string all;
  all.reserve(references.size() * Hash::size);
  for (const Hash& reference : references) all += reference.view();
  return checksum_of(sha256(chain.view(), all));
}

}  // namespace

Hash chain_start(const RunName& run) {
  return sha256(run.text);
}

EncodedBatch encode_batch(const Hash& chain_before, std::span<const std::string> records,
                          std::span<const Hash> references) {
  EncodedBatch encoded{{}, chain_before};
  wire::Writer writer;
  std::vector<std::uint64_t> checksums;
  checksums.reserve(records.size());
  for (const std::string& record : records) {
    encoded.chain = sha256(encoded.chain.view(), record);
    checksums.push_back(checksum_of(encoded.chain));
    writer.present_field(RecordField, record);
  }
  for (const std::uint64_t checksum : checksums) writer.fixed_field(ChecksumField, checksum);
  for (const Hash& reference : references) writer.present_field(ReferenceField, reference.view());
  writer.fixed_field(ReferencesChecksumField, checksum_of(encoded.chain, references));
  encoded.bytes = writer.take();
  return encoded;
}

Result<Batch, BatchProblem> decode_batch(const Hash& chain_before, std::string_view bytes) {
  Batch batch;
  batch.chain = chain_before;
  std::vector<std::uint64_t> checksums;
  std::uint64_t references_checksum = 0;
  std::size_t references_checksums = 0;
  wire::Reader reader(bytes);
  while (reader.next_field()) {
    switch (reader.number()) {
      case RecordField:
        batch.records.push_back(reader.bytes_value());
        break;
      case ChecksumField:
        checksums.push_back(reader.fixed_value());
        break;
      case ReferenceField: {
        const auto hash = Hash::from_bytes(reader.bytes_value());
        if (hash)
          batch.references.push_back(*hash);
        else
          reader.reject();
        break;
      }
      case ReferencesChecksumField:
        references_checksum = reader.fixed_value();
        ++references_checksums;
        break;
      default:
        reader.reject();
    }
  }
  // The records are checked first: where their frames can still be read, the altered one is named.
  for (std::size_t at = 0; at < batch.records.size() && at < checksums.size(); ++at) {
    batch.chain = sha256(batch.chain.view(), batch.records[at]);
    if (checksum_of(batch.chain) != checksums[at]) return failure(BatchProblem{at, "its checksum does not match"});
  }
  if (!reader.is_good() || batch.records.size() != checksums.size())
    return failure(BatchProblem{batch.records.size(), "the frame around the records cannot be read"});
  if (references_checksums != 1 || references_checksum != checksum_of(batch.chain, batch.references))
    return failure(BatchProblem{batch.records.size(), "the checksum of the references does not match"});
  return batch;
}

Result<const Batch*, BatchProblem> BatchDecoder::decode(const Hash& chain_before, std::string_view bytes) {
  if (!kept_bytes_.empty() && chain_before == chain_before_ && bytes == kept_bytes_) return &batch_;
  const bool is_kept = bytes.size() >= kept_bytes_min && bytes.size() <= kept_bytes_max;
  kept_bytes_.clear();
  if (is_kept) kept_bytes_ = bytes;
  ++verified_count_;
  auto decoded = decode_batch(chain_before, is_kept ? std::string_view(kept_bytes_) : bytes);
  if (!decoded) {
    kept_bytes_.clear();
    return failure(std::move(decoded.error()));
  }
  chain_before_ = chain_before;
  batch_ = std::move(*decoded);
  return &batch_;
}

}  // namespace tenon::journal
