#include "diagnostics/render.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace tenon::diagnostics {
namespace {

/// A source line longer than this is shown as the stretch around the mark.
constexpr std::uint32_t line_columns_max = 160;

constexpr std::string_view bold = "\x1b[1m";
constexpr std::string_view blue = "\x1b[1;34m";
constexpr std::string_view reset = "\x1b[0m";

std::string_view colour_of(Severity severity) {
  switch (severity) {
    case Severity::Error: return "\x1b[1;31m";
    case Severity::Warning: return "\x1b[1;33m";
    case Severity::Note: return "\x1b[1;36m";
  }
  return reset;
}

std::string_view word_of(Severity severity) {
  switch (severity) {
    case Severity::Error: return "error";
    case Severity::Warning: return "warning";
    case Severity::Note: return "note";
  }
  return "";
}

struct Shown {
  std::string text;   ///< printable stretch of the line
  std::string marks;  ///< blanks and carets below it
};

/// Control bytes and what is no UTF-8 would confuse a terminal: each is shown as one replacement character.
void append_printable(std::string& out, std::string_view code_point) {
  const auto first = static_cast<unsigned char>(code_point[0]);
  const std::size_t expected = first < 0x80 ? 1 : first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  const bool readable = code_point.size() == expected && (first >= 0x20 || first == '\t') && first != 0x7F;
  out += readable ? code_point : std::string_view("\xEF\xBF\xBD");
}

/// The line cut into code points, each byte that is no part of one being its own.
std::vector<std::string_view> code_points(std::string_view line) {
  std::vector<std::string_view> points;
  for (std::size_t at = 0; at < line.size();) {
    std::size_t end = at + 1;
    while (end < line.size() && (static_cast<unsigned char>(line[end]) & 0xC0U) == 0x80U) ++end;
    points.push_back(line.substr(at, std::min<std::size_t>(end - at, 4)));
    at = end;
  }
  return points;
}

Shown show_line(std::string_view line, std::uint32_t column, std::uint32_t columns, char mark) {
  const std::vector<std::string_view> points = code_points(line);
  const auto total = static_cast<std::uint32_t>(points.size());
  const std::uint32_t from = total <= line_columns_max || column < line_columns_max / 2 ? 0 : column - line_columns_max / 2;
  const std::uint32_t to = std::min(total, from + line_columns_max);
  Shown shown;
  if (from > 0) {
    shown.text += "…";
    shown.marks += ' ';
  }
  for (std::uint32_t index = from; index < to; ++index) {
    append_printable(shown.text, points[index]);
    if (index + 1 < column) shown.marks += points[index] == "\t" ? '\t' : ' ';
  }
  if (to < total) shown.text += "…";
  const std::uint32_t room = std::max<std::uint32_t>(1, to + 1 > column ? to + 1 - column : 1);
  shown.marks.append(std::clamp<std::uint32_t>(columns, 1, room), mark);
  return shown;
}

/// Columns of the span on its first line.
std::uint32_t columns_of(const source::SourceFile& file, source::Span span) {
  const source::Position start = file.position(span.offset);
  const std::uint32_t line_end =
      file.line_offset(start.line) + static_cast<std::uint32_t>(file.line(start.line).size());
  const std::uint32_t end = std::min(span.end(), std::max(line_end, span.offset));
  return source::code_point_count(file.text().substr(span.offset, end - span.offset));
}

void append_excerpt(std::string& out, const source::SourceFile& file, source::Span span, char mark,
                    std::string_view text, std::string_view mark_colour, Colour colour) {
  const source::Position start = file.position(span.offset);
  const Shown shown = show_line(file.line(start.line), start.column, columns_of(file, span), mark);
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

nlohmann::ordered_json json_place(const source::SourceFile& file, source::Span span) {
  const source::Position start = file.position(span.offset);
  const source::Position end = file.position(span.end());
  return {{"file", file.path()},     {"line", start.line},     {"column", start.column},
          {"end_line", end.line}, {"end_column", end.column}, {"offset", span.offset}, {"length", span.length}};
}

}  // namespace

std::string render(const Diagnostic& diagnostic, std::span<const source::SourceFile* const> files, Colour colour) {
  const bool on = colour == Colour::On;
  const std::string_view head = on ? colour_of(diagnostic.code.severity) : "";
  const std::string_view strong = on ? bold : "";
  const std::string_view plain = on ? reset : "";
  std::string out;
  const std::string title = fmt::format("{}{}[{}]{}: {}{}{}", head, word_of(diagnostic.code.severity),
                                        diagnostic.code.text(), plain, strong, diagnostic.message, plain);
  if (!diagnostic.span.file.exists()) {
    out = title + "\n";
  } else {
    const source::SourceFile& file = *files[diagnostic.span.file.index];
    const source::Position start = file.position(diagnostic.span.offset);
    out = fmt::format("{}:{}:{}: {}\n", file.path(), start.line, start.column, title);
    append_excerpt(out, file, diagnostic.span, '^', "", head, colour);
  }
  for (const Label& label : diagnostic.labels) {
    const source::SourceFile& file = *files[label.span.file.index];
    if (label.span.file != diagnostic.span.file) {
      const source::Position start = file.position(label.span.offset);
      out += fmt::format(" --> {}:{}:{}\n", file.path(), start.line, start.column);
    }
    append_excerpt(out, file, label.span, '-', label.text, on ? blue : "", colour);
  }
  for (const std::string& hint : diagnostic.hints) out += fmt::format("  = {}hint{}: {}\n", strong, plain, hint);
  return out;
}

std::string render_json(const Diagnostic& diagnostic, std::span<const source::SourceFile* const> files) {
  nlohmann::ordered_json json = {{"code", diagnostic.code.text()},
                                 {"severity", word_of(diagnostic.code.severity)},
                                 {"message", diagnostic.message}};
  if (diagnostic.span.file.exists()) json.update(json_place(*files[diagnostic.span.file.index], diagnostic.span));
  json["labels"] = nlohmann::ordered_json::array();
  for (const Label& label : diagnostic.labels) {
    nlohmann::ordered_json entry = json_place(*files[label.span.file.index], label.span);
    entry["text"] = label.text;
    json["labels"].push_back(std::move(entry));
  }
  json["hints"] = diagnostic.hints;
  if (diagnostic.fix) {
    nlohmann::ordered_json fix = json_place(*files[diagnostic.fix->span.file.index], diagnostic.fix->span);
    fix["replacement"] = diagnostic.fix->replacement;
    json["fix"] = std::move(fix);
  }
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace tenon::diagnostics
