#include "source/source_file.h"

#include <algorithm>

#include "base/utf8.h"

namespace tenon::source {
namespace {

constexpr std::size_t chunk_bytes = 256;

}  // namespace

SourceFile::SourceFile(FileId id, std::string path, std::string text)
    : id_(id), path_(std::move(path)), text_(std::move(text)), written_length_(text_.size()) {
  line_offsets_.push_back(0);
  for (std::size_t at = text_.find('\n'); at != std::string::npos; at = text_.find('\n', at + 1)) {
    line_offsets_.push_back(static_cast<std::uint32_t>(at + 1));
  }
  std::uint32_t before = 0;
  for (std::size_t at = 0; at <= text_.size(); at += chunk_bytes) {
    code_points_.push_back(before);
    before += static_cast<std::uint32_t>(count_code_points(std::string_view(text_).substr(at, chunk_bytes)));
  }
}

std::uint32_t SourceFile::code_points_before(std::uint32_t offset) const {
  offset = static_cast<std::uint32_t>(std::min<std::size_t>(offset, written_length_));  // glue has no columns
  const std::size_t chunk = offset / chunk_bytes;
  const std::size_t start = chunk * chunk_bytes;
  return code_points_[chunk] + static_cast<std::uint32_t>(count_code_points(text().substr(start, offset - start)));
}

std::uint32_t SourceFile::append_glue(std::string_view glue) {
  const auto begin = static_cast<std::uint32_t>(text_.size());
  text_ += glue;
  return begin;
}

Position SourceFile::position(std::uint32_t offset) const {
  const auto after = std::upper_bound(line_offsets_.begin(), line_offsets_.end(), offset);
  const auto line = static_cast<std::uint32_t>(after - line_offsets_.begin());
  const std::uint32_t start = line_offsets_[line - 1];
  if (offset - start <= chunk_bytes && offset <= written_length_) {
    return {line, 1 + static_cast<std::uint32_t>(count_code_points(text().substr(start, offset - start)))};
  }
  return {line, 1 + code_points_before(offset) - code_points_before(start)};
}

std::string_view SourceFile::line(std::uint32_t number) const {
  const std::uint32_t start = line_offsets_[number - 1];
  std::string_view rest = text().substr(start);
  rest = rest.substr(0, rest.find('\n'));
  if (rest.ends_with('\r')) rest.remove_suffix(1);
  return rest;
}

}  // namespace tenon::source
