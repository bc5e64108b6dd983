#include "diagnostics/render.h"

#include <algorithm>
#include <iterator>

#include "base/printable.h"
#include "base/utf8.h"
#include "json/json.h"

namespace tenon::diagnostics {
namespace {

/// Only the part around the mark is shown of a longer source line.
constexpr std::size_t line_columns_max = 160;

constexpr std::string_view bold = "\x1b[1m";
constexpr std::string_view blue = "\x1b[1;34m";
constexpr std::string_view reset = "\x1b[0m";

std::string_view colour_of(Severity severity) {
  switch (severity) {
    case Severity::Error:
      return "\x1b[1;31m";
    case Severity::Warning:
      return "\x1b[1;33m";
    case Severity::Note:
      return "\x1b[1;36m";
  }
  return reset;
}

std::string_view name_of(Severity severity) {
  switch (severity) {
    case Severity::Error:
      return "error";
    case Severity::Warning:
      return "warning";
    case Severity::Note:
      return "note";
  }
  return "";
}

struct Shown {
  std::string text;   ///< printable part of the line
  std::string marks;  ///< blanks and carets below it
};

/// The code point, or the byte outside of any code point, at the start of `text`, which is not empty.
std::string_view first_character(std::string_view text) {
  std::size_t end = 1;
  while (end < text.size() && end < 4 && is_utf8_continuation(text[end])) ++end;
  return text.substr(0, end);
}

char32_t decode(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  char32_t value = character.size() == 1 ? first : first & (0x7FU >> character.size());
  for (const char byte : character.substr(1)) value = value << 6 | (static_cast<unsigned char>(byte) & 0x3FU);
  return value;
}

struct CharacterRange {
  char32_t first;
  char32_t last;
};
/// Combining marks, joiners and variation selectors.
constexpr CharacterRange without_width[] = {{0x300, 0x36F},   {0x483, 0x489},   {0x591, 0x5BD},   {0x610, 0x61A},
                                            {0x64B, 0x65F},   {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF}, {0x200B, 0x200F},
                                            {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}};
/// East Asian wide characters and emoji.
constexpr CharacterRange of_double_width[] = {
    {0x1100, 0x115F}, {0x2E80, 0x303E}, {0x3041, 0xA4CF},   {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},
    {0xFF00, 0xFF60}, {0xFFE0, 0xFFE6}, {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF}, {0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD}};

/// The number of terminal cells that it takes, approximately.
std::size_t width_of(std::string_view character) {
  if (!is_printable(character)) return 1;
  const char32_t value = decode(character);
  const auto holds = [value](CharacterRange range) { return range.first <= value && value <= range.last; };
  if (std::any_of(std::begin(without_width), std::end(without_width), holds)) return 0;
  return std::any_of(std::begin(of_double_width), std::end(of_double_width), holds) ? 2 : 1;
}

/// The offset of the character that is `count` characters before `at`.
std::size_t back(std::string_view line, std::size_t at, std::size_t count) {
  for (; count > 0 && at > 0; --count) {
    --at;
    for (std::size_t tail = 0; tail < 3 && at > 0 && is_utf8_continuation(line[at]); ++tail) --at;
  }
  return at;
}

/// The offset after `count` characters from `at`.
std::size_t forth(std::string_view line, std::size_t at, std::size_t count) {
  for (; count > 0 && at < line.size(); --count) at += first_character(line.substr(at)).size();
  return at;
}

/// The line, or the part around its bytes `begin` to `end`, with marks below these. Takes time linear in that part
/// only.
Shown show_line(std::string_view line, std::size_t begin, std::size_t end, char mark) {
  const bool is_short = forth(line, 0, line_columns_max) == line.size();
  const std::size_t from = is_short ? 0 : back(line, begin, line_columns_max / 2);
  const std::size_t to = is_short ? line.size() : forth(line, from, line_columns_max);
  Shown shown;
  if (from > 0) {
    shown.text += "…";
    shown.marks += ' ';
  }
  std::size_t marked = 0;
  for (std::size_t at = from; at < to;) {
    const std::string_view character = first_character(line.substr(at));
    shown.text += is_printable(character) ? character : std::string_view("\xEF\xBF\xBD");
    if (at < begin) {
      shown.marks += character == "\t" ? "\t" : std::string(width_of(character), ' ');
    } else if (at < end) {
      marked += width_of(character);
    }
    at += character.size();
  }
  if (to < line.size()) shown.text += "…";
  shown.marks.append(std::max<std::size_t>(marked, 1), mark);
  return shown;
}

void append_excerpt(std::string& out, const source::SourceFile& file, source::Span span, char mark,
                    std::string_view text, std::string_view mark_colour, Colour colour) {
  const source::Position start = file.position(span.offset);
  const std::string_view line = file.line(start.line);
  const std::size_t begin = std::min<std::size_t>(span.offset - file.line_offset(start.line), line.size());
  const Shown shown = show_line(line, begin, std::min<std::size_t>(begin + span.length, line.size()), mark);
  const std::string number = std::to_string(start.line);
  const std::string margin(number.size(), ' ');
  const bool on = colour == Colour::On;
  const std::string_view frame = on ? blue : "";
  const std::string_view plain = on ? reset : "";
  const std::string_view marked = on ? mark_colour : "";
  out += fmt::format("{} {} |{} {}\n", frame, number, plain, shown.text);
  out += fmt::format("{} {} |{} {}{}{}{}{}\n", frame, margin, plain, marked, shown.marks, text.empty() ? "" : " ", text,
                     plain);
}

Json json_location(const source::SourceFile& file, source::Span span) {
  const source::Position start = file.position(span.offset);
  const source::Position end = file.position(span.end());
  return Json::object({{"file", file.path()},
                       {"line", start.line},
                       {"column", start.column},
                       {"end_line", end.line},
                       {"end_column", end.column},
                       {"offset", span.offset},
                       {"length", span.length}});
}

}  // namespace

std::string render(const Diagnostic& diagnostic, std::span<const source::SourceFile* const> files, Colour colour) {
  const bool on = colour == Colour::On;
  const std::string_view head = on ? colour_of(diagnostic.code.severity) : "";
  const std::string_view strong = on ? bold : "";
  const std::string_view plain = on ? reset : "";
  std::string out;
  const std::string title =
      fmt::format("{}{}[{}]{}: {}{}{}", head, name_of(diagnostic.code.severity), diagnostic.code.text(), plain, strong,
                  make_printable(diagnostic.message), plain);
  if (!diagnostic.span.file.exists()) {
    out = title + "\n";
  } else {
    const source::SourceFile& file = *files[diagnostic.span.file.index];
    const source::Position start = file.position(diagnostic.span.offset);
    out = fmt::format("{}:{}:{}: {}\n", make_printable(file.path()), start.line, start.column, title);
    append_excerpt(out, file, diagnostic.span, '^', "", head, colour);
  }
  for (const Label& label : diagnostic.labels) {
    if (!label.span.file.exists()) continue;
    const source::SourceFile& file = *files[label.span.file.index];
    if (label.span.file != diagnostic.span.file) {
      const source::Position start = file.position(label.span.offset);
      out += fmt::format(" --> {}:{}:{}\n", make_printable(file.path()), start.line, start.column);
    }
    append_excerpt(out, file, label.span, '-', make_printable(label.text), on ? blue : "", colour);
  }
  for (const std::string& hint : diagnostic.hints)
    out += fmt::format("  = {}hint{}: {}\n", strong, plain, make_printable(hint));
  return out;
}

Json to_json(const Diagnostic& diagnostic, std::span<const source::SourceFile* const> files) {
  Json json = Json::object({{"code", diagnostic.code.text()},
                            {"severity", name_of(diagnostic.code.severity)},
                            {"message", diagnostic.message}});
  if (diagnostic.span.file.exists()) json.update(json_location(*files[diagnostic.span.file.index], diagnostic.span));
  json["labels"] = Json::array();
  for (const Label& label : diagnostic.labels) {
    if (!label.span.file.exists()) continue;
    Json entry = json_location(*files[label.span.file.index], label.span);
    entry["text"] = label.text;
    json["labels"].push_back(std::move(entry));
  }
  json["hints"] = Json::array_of(diagnostic.hints);
  if (diagnostic.fix) {
    Json fix = json_location(*files[diagnostic.fix->span.file.index], diagnostic.fix->span);
    fix["replacement"] = diagnostic.fix->replacement;
    json["fix"] = std::move(fix);
  }
  return json;
}

std::string render_json(const Diagnostic& diagnostic, std::span<const source::SourceFile* const> files) {
  return to_json(diagnostic, files).dump();
}

}  // namespace tenon::diagnostics
