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

}  // namespace tenon::journal
