#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "journal/store.h"

/// The records of one append in the form in which they are kept and exported.
namespace tenon::journal {

/// One row of the store. Numbered fields, as in base/wire.h:
///   1  a record; repeated
///   2  fixed: the first 8 bytes of the chain after it; one for each record
///   3  the SHA-256 of a content that the records refer to; repeated
///   4  fixed: the first 8 bytes of the SHA-256 of the chain after the last record, followed by all of field 3
struct EncodedBatch {
  std::string bytes;
  Hash chain;  ///< after the last record
};

[[nodiscard]] EncodedBatch encode_batch(const Hash& chain_before, std::span<const std::string> records,
                                        std::span<const Hash> references);

/// A verified batch: its checksums and its chain match. The records point into the bytes that it was read from.
struct Batch {
  std::vector<std::string_view> records;
  std::vector<Hash> references;
  Hash chain;  ///< after the last record
};

struct BatchProblem {
  /// The first record, from 0, whose checksum does not match; the number of records if the references' does not, or if
  /// the frame around them is broken.
  std::size_t record = 0;
  std::string_view what;
};

[[nodiscard]] Result<Batch, BatchProblem> decode_batch(const Hash& chain_before, std::string_view bytes);

/// Decodes batches for a reader that takes a few records at a time, and may so come to one batch many times: a large
/// one is verified once for all the times in a row that it has the same bytes. Used by one thread.
class BatchDecoder {
 public:
  /// Smaller ones are verified each time, and larger ones are not kept in memory.
  static constexpr std::size_t kept_bytes_min = std::size_t{16} << 10U;
  static constexpr std::size_t kept_bytes_max = std::size_t{16} << 20U;

  /// The batch is valid until the next call, and as long as the bytes.
  [[nodiscard]] Result<const Batch*, BatchProblem> decode(const Hash& chain_before, std::string_view bytes);
  /// How often a batch was verified.
  [[nodiscard]] std::uint64_t verified_count() const { return verified_count_; }

 private:
  std::string kept_bytes_;  ///< empty: `batch_` is not kept
  Hash chain_before_;
  Batch batch_;
  std::uint64_t verified_count_ = 0;
};

}  // namespace tenon::journal
