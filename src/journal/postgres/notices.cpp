#include "journal/postgres/notices.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/parse_number.h"
#include "base/utf8.h"

namespace tenon::journal::postgres {
namespace {

constexpr std::string_view given_kind = "given";
constexpr std::string_view watch_kind = "watch";
constexpr std::string_view changed_kind = "changed";
constexpr std::string_view watch_all_kind = "watch-all";
constexpr std::string_view any_changed_kind = "any-changed";
constexpr std::string_view messages_kind = "messages";

/// Takes the text up to the next space, or all of it.
std::string_view take_word(std::string_view& text) {
  const std::size_t end = std::min(text.find(' '), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return word;
}

template <class Number>
bool take_number(std::string_view& text, Number& number) {
  const auto parsed = parse_number<Number>(take_word(text));
  if (parsed) number = *parsed;
  return parsed.has_value();
}

/// Notices with as many runs as fit, each of which begins with what `next_head` returns.
template <class NextHead>
std::vector<std::string> make_lists(const std::vector<RunName>& runs, NextHead next_head) {
  std::vector<std::string> notices;
  for (const RunName& run : runs) {
    if (notices.empty() || notices.back().size() + run.text.size() >= notice_bytes_max) notices.push_back(next_head());
    notices.back() += ' ';
    notices.back() += run.text;
  }
  return notices;
}

std::optional<std::vector<RunName>> take_runs(std::string_view text) {
  std::vector<RunName> runs;
  while (!text.empty()) {
    const std::string_view word = take_word(text);
    if (!is_run_name(word)) return std::nullopt;
    runs.push_back({std::string(word)});
  }
  return runs;
}

bool is_continuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

/// The size of the first part of a text that has at most `most` bytes and does not end within a character.
std::size_t size_of_part(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text.size();
  while (most > 0 && is_continuation(text[most])) --most;
  return most;
}

/// Of the part of a message, besides its text.
constexpr std::size_t piece_overhead_max = 128;
constexpr std::size_t part_bytes_max = notice_bytes_max - piece_overhead_max;

std::string piece_head(const MessagePiece& piece) {
  return fmt::format(" {} {} {} {} {}:", piece.run.text, piece.number, piece.part, piece.parts, piece.text.size());
}

}  // namespace

std::string_view kind_of(std::string_view notice) {
  return notice.substr(0, notice.find(' '));
}

std::optional<std::vector<RunName>> read_given_notice(std::string_view notice) {
  if (take_word(notice) != given_kind) return std::nullopt;
  return take_runs(notice);
}

std::vector<std::string> make_watch_notices(std::int64_t watcher, const std::vector<RunName>& runs) {
  return make_lists(runs, [&] { return fmt::format("{} {}", watch_kind, watcher); });
}

std::optional<WatchNotice> read_watch_notice(std::string_view notice) {
  WatchNotice read;
  if (take_word(notice) != watch_kind || !take_number(notice, read.watcher)) return std::nullopt;
  auto runs = take_runs(notice);
  if (!runs) return std::nullopt;
  read.runs = std::move(*runs);
  return read;
}

std::vector<std::string> make_changed_notices(std::uint64_t number, const std::vector<RunName>& runs) {
  return make_lists(runs, [&] { return fmt::format("{} {}", changed_kind, number++); });
}

std::optional<std::vector<RunName>> read_changed_notice(std::string_view notice) {
  std::uint64_t number = 0;
  if (take_word(notice) != changed_kind || !take_number(notice, number)) return std::nullopt;
  return take_runs(notice);
}

std::string make_watch_all_notice(std::int64_t watcher) {
  return fmt::format("{} {}", watch_all_kind, watcher);
}

std::optional<std::int64_t> read_watch_all_notice(std::string_view notice) {
  std::int64_t watcher = 0;
  if (take_word(notice) != watch_all_kind || !take_number(notice, watcher)) return std::nullopt;
  return watcher;
}

std::vector<std::string> make_any_changed_notices(std::uint64_t number, const std::vector<RunName>& runs) {
  if (runs.empty()) return {fmt::format("{} {}", any_changed_kind, number)};
  return make_lists(runs, [&] { return fmt::format("{} {}", any_changed_kind, number++); });
}

std::optional<std::vector<RunName>> read_any_changed_notice(std::string_view notice) {
  std::uint64_t number = 0;
  if (take_word(notice) != any_changed_kind || !take_number(notice, number)) return std::nullopt;
  return take_runs(notice);
}

MessageNotices::MessageNotices(std::int64_t sender) : head_(fmt::format("{} {}", messages_kind, sender)) {}

void MessageNotices::add(const RunName& run, std::uint64_t number, std::string_view message) {
  const std::string encoded = encode_message(message);
  std::vector<std::string_view> parts;
  for (std::string_view rest = encoded; !rest.empty();) {
    parts.push_back(rest.substr(0, size_of_part(rest, part_bytes_max)));
    rest.remove_prefix(parts.back().size());
  }
  for (std::size_t part = 0; part < parts.size(); ++part)
    add_piece({.run = run, .number = number, .part = part, .parts = parts.size(), .text = parts[part]});
}

void MessageNotices::add_piece(const MessagePiece& piece) {
  const std::string head = piece_head(piece);
  const std::size_t size = head.size() + piece.text.size();
  if (notices_.empty() || notices_.back().size() + size > notice_bytes_max) notices_.push_back(head_);
  notices_.back() += head;
  notices_.back() += piece.text;
}

std::vector<std::string> MessageNotices::take() {
  return std::exchange(notices_, {});
}

std::optional<MessagesNotice> read_messages_notice(std::string_view notice) {
  MessagesNotice read;
  if (take_word(notice) != messages_kind || !take_number(notice, read.sender)) return std::nullopt;
  while (!notice.empty()) {
    MessagePiece piece;
    piece.run.text = take_word(notice);
    if (!is_run_name(piece.run.text) || !take_number(notice, piece.number) || !take_number(notice, piece.part) ||
        !take_number(notice, piece.parts))
      return std::nullopt;
    const std::size_t colon = notice.find(':');
    if (colon == std::string_view::npos) return std::nullopt;
    const auto size = parse_number<std::size_t>(notice.substr(0, colon));
    if (!size || *size > notice.size() - colon - 1) return std::nullopt;
    piece.text = notice.substr(colon + 1, *size);
    notice.remove_prefix(colon + 1 + *size);
    if (!notice.empty() && notice.front() != ' ') return std::nullopt;
    if (!notice.empty()) notice.remove_prefix(1);
    read.pieces.push_back(std::move(piece));
  }
  return read;
}

std::string encode_message(std::string_view message) {
  const bool is_text =
      find_invalid_utf8(message) == std::string_view::npos && message.find('\0') == std::string_view::npos;
  if (is_text) return "t" + std::string(message);
  std::string digits = "x";
  for (const char byte : message) digits += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return digits;
}

std::string decode_message(std::string_view text) {
  if (text.starts_with('t')) return std::string(text.substr(1));
  std::string bytes;
  for (std::size_t at = 1; at + 1 < text.size(); at += 2) {
    unsigned value = 0;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + at + 2, value, 16);
    if (error != std::errc() || end != text.data() + at + 2) return {};
    bytes += static_cast<char>(value);
  }
  return bytes;
}

}  // namespace tenon::journal::postgres
