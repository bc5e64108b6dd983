#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "journal/store.h"

/// The texts that owners of a store send each other by NOTIFY. Each is lost when the receiver is not connected.
///
///   command                     there is a command for the receiver
///   reply                       there is a reply for it
///   moved                       runs have moved to the pool of the receiver, and have no owner
///   given RUN…                  these runs have moved, and are the receiver's
///   watch OWNER RUN…            the owner OWNER watches these runs of the receiver
///   changed NUMBER RUN…         these runs have new records. No two numbers of an owner are the same: of equal notices
///                               of one transaction only the first arrives
///   watch-all OWNER             to all: the owner OWNER watches all runs
///   any-changed NUMBER RUN…     the same as `changed`, for an owner that watches all runs; without runs: more than fit
///   messages OWNER PIECE…       pieces of messages of runs, each: RUN NUMBER PART PARTS SIZE:TEXT
///   joined, gone                to all: an owner has joined; one has left or died
namespace tenon::journal::postgres {

/// The server takes payloads below 8,000 bytes.
inline constexpr std::size_t notice_bytes_max = 7'900;

/// A part of an encoded message. The messages of a run to one watcher are numbered from 0.
struct MessagePiece {
  RunName run;
  std::uint64_t number = 0;
  std::uint64_t part = 0;   ///< from 0
  std::uint64_t parts = 1;  ///< of the message
  std::string_view text;
};

/// The first word of a notice.
[[nodiscard]] std::string_view kind_of(std::string_view notice);

[[nodiscard]] std::optional<std::vector<RunName>> read_given_notice(std::string_view notice);

[[nodiscard]] std::vector<std::string> make_watch_notices(std::int64_t watcher, const std::vector<RunName>& runs);
struct WatchNotice {
  std::int64_t watcher = 0;
  std::vector<RunName> runs;
};
[[nodiscard]] std::optional<WatchNotice> read_watch_notice(std::string_view notice);

/// `number`: of the first; each further one has the next.
[[nodiscard]] std::vector<std::string> make_changed_notices(std::uint64_t number, const std::vector<RunName>& runs);
[[nodiscard]] std::optional<std::vector<RunName>> read_changed_notice(std::string_view notice);

[[nodiscard]] std::string make_watch_all_notice(std::int64_t watcher);
[[nodiscard]] std::optional<std::int64_t> read_watch_all_notice(std::string_view notice);
/// One at least.
[[nodiscard]] std::vector<std::string> make_any_changed_notices(std::uint64_t number, const std::vector<RunName>& runs);
[[nodiscard]] std::optional<std::vector<RunName>> read_any_changed_notice(std::string_view notice);

/// Collects pieces of messages for one watcher into as few notices as possible.
class MessageNotices {
 public:
  /// `sender`: the owner that publishes.
  explicit MessageNotices(std::int64_t sender);
  /// `message` may be any bytes.
  void add(const RunName& run, std::uint64_t number, std::string_view message);
  [[nodiscard]] std::vector<std::string> take();

 private:
  void add_piece(const MessagePiece& piece);

  std::string head_;
  std::vector<std::string> notices_;
};
struct MessagesNotice {
  std::int64_t sender = 0;
  std::vector<MessagePiece> pieces;  ///< point into the notice
};
[[nodiscard]] std::optional<MessagesNotice> read_messages_notice(std::string_view notice);

/// A message as a text that a database takes, and back: `t` and the message, or `x` and hexadecimal digits if it is not
/// valid UTF-8 or has a NUL.
[[nodiscard]] std::string encode_message(std::string_view message);
/// Empty for a text that is not one.
[[nodiscard]] std::string decode_message(std::string_view text);

}  // namespace tenon::journal::postgres
