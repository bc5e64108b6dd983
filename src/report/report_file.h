#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tenon::report {

/// A longer report is not written.
inline constexpr std::size_t report_bytes_max = 64U * 1024U * 1024U;
inline constexpr std::size_t name_bytes_max = 100;

/// What a program asks for.
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

/// Renders a report and puts it into `folder`, of a run with a name into a folder of its own there; the folders are
/// made. The file is whole at any time: a call that is cut off leaves none, or the one that was there. The same call
/// again writes the same bytes to the same place. `effect_key`: as tenon/extern.h tells it; `RUN/REQUEST` of a run that
/// is recorded. Throws RenderError.
[[nodiscard]] ReportFile write_report(const std::string& folder, std::string_view effect_key,
                                      const ReportRequest& request);

}  // namespace tenon::report
