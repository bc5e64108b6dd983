#include "flows/call_text.h"

#include <algorithm>
#include <vector>

namespace tenon::flows {
namespace {

bool is_word(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9') ||
         letter == '_' || letter == ':';
}

/// The byte of the place in the file's text.
std::size_t offset_of(const source::SourceFile& file, const bytecode::Place& place) {
  if (place.line == 0 || place.line > file.line_count()) return 0;
  const std::string_view line = file.line(place.line);
  std::size_t at = 0;
  for (std::uint32_t column = 1; column < place.column && at < line.size(); ++column) {
    do ++at;
    while (at < line.size() && (static_cast<unsigned char>(line[at]) & 0xC0U) == 0x80U);
  }
  return file.line_offset(place.line) + at;
}

std::size_t end_of_word(std::string_view text, std::size_t at) {
  while (at < text.size() && is_word(text[at])) ++at;
  return at;
}

/// After a string that begins at `at`, with its escapes.
std::size_t end_of_string(std::string_view text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at) {
    if (text[at] == '\\') ++at;
  }
  return std::min(at + 1, text.size());
}

/// The commas between the arguments, and the parenthesis that closes them; nothing if none does.
struct Arguments {
  std::vector<std::size_t> separators;
  std::size_t end = 0;
};
std::optional<Arguments> read_arguments(std::string_view text, std::size_t open) {
  Arguments arguments;
  std::size_t depth = 0;
  for (std::size_t at = open; at < text.size();) {
    const char letter = text[at];
    if (letter == '"') {
      at = end_of_string(text, at);
      continue;
    }
    if (letter == '(' || letter == '[' || letter == '{') ++depth;
    if (letter == ')' || letter == ']' || letter == '}') {
      if (--depth == 0) {
        arguments.end = at;
        return arguments;
      }
    }
    if (letter == ',' && depth == 1) arguments.separators.push_back(at);
    ++at;
  }
  return std::nullopt;
}

source::Span span_of(const source::SourceFile& file, std::size_t begin, std::size_t end) {
  return {file.id(), static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end - begin)};
}

}  // namespace

source::Span span_at(const source::SourceFile& file, const bytecode::Place& place) {
  const std::string_view text = file.text();
  const std::size_t begin = offset_of(file, place);
  const std::size_t word = end_of_word(text, begin);
  if (word == begin) return span_of(file, begin, std::min(begin + 1, text.size()));
  if (word < text.size() && text[word] == '(') {
    const auto arguments = read_arguments(text, word);
    const std::size_t line_end = std::min(text.find('\n', begin), text.size());
    if (arguments && arguments->end < line_end) return span_of(file, begin, arguments->end + 1);
  }
  return span_of(file, begin, word);
}

std::optional<source::Span> find_argument(const source::SourceFile& file, const bytecode::Place& place,
                                          std::string_view callee, std::size_t argument, std::size_t count) {
  const std::string_view text = file.text();
  const std::size_t begin = offset_of(file, place);
  const std::size_t word = end_of_word(text, begin);
  const std::string_view name = text.substr(begin, word - begin);
  const bool is_callee = name == callee || name.ends_with("::" + std::string(callee));
  if (!is_callee || word == text.size() || text[word] != '(') return std::nullopt;
  auto arguments = read_arguments(text, word);
  if (!arguments) return std::nullopt;
  // After the last one may be a comma.
  std::vector<std::size_t> ends = arguments->separators;
  ends.push_back(arguments->end);
  const auto is_blank = [](char letter) { return letter == ' ' || letter == '\n' || letter == '\t' || letter == '\r'; };
  if (ends.size() == count + 1) ends.pop_back();
  if (ends.size() != count) return std::nullopt;
  std::size_t from = argument == 0 ? word + 1 : ends[argument - 1] + 1;
  std::size_t to = ends[argument];
  while (from < to && is_blank(text[from])) ++from;
  while (to > from && is_blank(text[to - 1])) --to;
  return from < to ? std::optional(span_of(file, from, to)) : std::nullopt;
}

}  // namespace tenon::flows
