#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "journal/store.h"

/// A run as one portable file, which no store is needed to read.
namespace tenon::journal {

/// The records of one append, with what they refer to.
struct RunFileBatch {
  std::vector<std::string> records;
  std::vector<Hash> references;
};

struct RunFile {
  RunHead head;
  std::vector<RunFileBatch> batches;  ///< in order
  std::vector<Content> contents;      ///< exactly those that the batches refer to, at once or through `refers`
};

inline constexpr std::uint64_t run_file_format = 1;

/// The eight bytes `TENONRUN`, then numbered fields as in base/wire.h:
///   1  the format
///   2  the head: 1 name, 2 epoch, 3 number of records, 4 chain, 5 created at, 6 state, 7 title, 8 detail, 9 wake at,
///      10 updated at (times: milliseconds since 1970, zigzag)
///   3  a batch, as journal/batch.h has it; repeated, in order
///   4  a content: 1 bytes, 2 the hash of a content that it refers to, repeated; in any order
///   5  the SHA-256 of everything before this field
[[nodiscard]] std::string encode_run_file(const RunFile& file);

/// Verifies the digest, the hash chain from the run's name to its head, and that every reference has its content and
/// vice versa. `Format`: not an exported run, or of a newer format; `Damaged`: an exported run that fails verification.
[[nodiscard]] Result<RunFile, StoreError> decode_run_file(std::string_view bytes);

}  // namespace tenon::journal
