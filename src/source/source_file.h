#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/id.h"

namespace tenon::source {

/// Larger files are rejected before they are read. Hand-written modules are about a thousandth of this size.
inline constexpr std::size_t source_bytes_max = std::size_t{8} * 1024 * 1024;

using FileId = Id<struct FileTag>;

/// A range of bytes in one file.
struct Span {
  FileId file;
  std::uint32_t offset = 0;
  std::uint32_t length = 0;

  [[nodiscard]] constexpr std::uint32_t end() const { return offset + length; }
  friend bool operator==(const Span&, const Span&) = default;
};

/// Counted from 1; columns are code points.
struct Position {
  std::uint32_t line = 1;
  std::uint32_t column = 1;
};

/// A source text with its lines; it may contain any bytes. Glue may follow it: generated text that tokens of a lowered
/// tree refer to (blocks/lower.h). Glue does not belong to a line and is never shown.
class SourceFile {
 public:
  SourceFile(FileId id, std::string path, std::string text);

  [[nodiscard]] FileId id() const { return id_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string_view text() const { return std::string_view(text_).substr(0, written_length_); }
  /// The text of a range of the source text or of the glue.
  [[nodiscard]] std::string_view text(Span span) const {
    return std::string_view(text_).substr(span.offset, span.length);
  }
  /// Returns the offset of `glue`, in bytes from the start of the text.
  std::uint32_t append_glue(std::string_view glue);
  [[nodiscard]] Position position(std::uint32_t offset) const;
  /// Line `number` (from 1) without its newline.
  [[nodiscard]] std::string_view line(std::uint32_t number) const;
  [[nodiscard]] std::uint32_t line_offset(std::uint32_t number) const { return line_offsets_[number - 1]; }
  [[nodiscard]] std::uint32_t line_count() const { return static_cast<std::uint32_t>(line_offsets_.size()); }

 private:
  FileId id_;
  std::string path_;
  std::string text_;  ///< followed by the glue
  std::size_t written_length_ = 0;
  /// The number of code points that start before the byte `offset` of the text.
  [[nodiscard]] std::uint32_t code_points_before(std::uint32_t offset) const;

  std::vector<std::uint32_t> line_offsets_;
  /// code_points_before() for each multiple of the chunk size, which makes position() fast in long lines.
  std::vector<std::uint32_t> code_points_;
};

}  // namespace tenon::source
