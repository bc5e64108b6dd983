#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tenon::report {

/// Larger reports are not written.
inline constexpr std::size_t report_bytes_max = 64U * 1024U * 1024U;
inline constexpr std::size_t name_bytes_max = 100;

/// The arguments of a program's call.
struct ReportRequest {
  std::string name;    ///< of the file, without its ending
  std::string title;   ///< of the document
  std::string text;    ///< Markdown
  std::string format;  ///< markdown, html or pdf
  std::int64_t milliseconds = 0;
};

struct ReportFile {
  std::string path;
  std::int64_t bytes = 0;
  std::string sha256;  ///< in hexadecimal
};

/// The report's bytes. Throws RenderError.
[[nodiscard]] std::string render(const ReportRequest& request);

/// Renders a report and writes it to `folder`, or to a subfolder with the name of the run if it has one; creates the
/// folders. The file is never partially written: an interrupted call leaves none, or the previous one. The same call
/// writes the same bytes to the same place again. `effect_key`: as in tenon/extern.h; `RUN/REQUEST` for a recorded run.
/// Throws RenderError.
[[nodiscard]] ReportFile write_report(const std::string& folder, std::string_view effect_key,
                                      const ReportRequest& request);

}  // namespace tenon::report
