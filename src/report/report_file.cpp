#include "report/report_file.h"

#include <fcntl.h>
#include <glib.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>

#include "report/html.h"
#include "report/pdf.h"

namespace tenon::report {
namespace {

bool is_name(std::string_view text) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
  return !text.empty() && text.size() <= name_bytes_max && text.front() != '.' &&
         text.find_first_not_of(letters) == std::string_view::npos;
}

std::string_view ending_of(std::string_view format) {
  if (format == "markdown") return ".md";
  if (format == "html") return ".html";
  if (format == "pdf") return ".pdf";
  throw RenderError("there is no format `" + std::string(format) + "`: markdown, html and pdf are known");
}

[[noreturn]] void fail_to_write(const std::string& path) {
  const int reason = errno;
  throw RenderError("`" + path + "` cannot be written: " + std::strerror(reason));
}

/// Written under another name first, so that a partial file is never read.
void write_whole(const std::string& path, const std::string& bytes) {
  const std::string unfinished = path + "." + std::to_string(getpid()) + ".part";
  const int file = open(unfinished.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);
  if (file < 0) fail_to_write(path);
  std::size_t written = 0;
  while (written < bytes.size()) {
    const ssize_t some = write(file, bytes.data() + written, bytes.size() - written);
    if (some < 0 && errno == EINTR) continue;
    if (some < 0) break;
    written += static_cast<std::size_t>(some);
  }
  const bool good = written == bytes.size() && fsync(file) == 0;
  const int reason = errno;
  close(file);
  if (good && rename(unfinished.c_str(), path.c_str()) == 0) return;
  if (!good) errno = reason;
  const int problem = errno;
  unlink(unfinished.c_str());
  errno = problem;
  fail_to_write(path);
}

}  // namespace

std::string render(const ReportRequest& request) {
  static_cast<void>(ending_of(request.format));
  const Document document = parse_markdown(request.text);
  if (request.format == "markdown") return request.text;
  if (request.format == "html") return render_html(request.title, document.get());
  return render_pdf(request.title, request.milliseconds, document.get());
}

ReportFile write_report(const std::string& folder, std::string_view effect_key, const ReportRequest& request) {
  if (!is_name(request.name)) {
    throw RenderError("`" + request.name.substr(0, name_bytes_max) +
                      "` is not a valid name of a report: expected letters a to z, digits, `-`, `_` and `.`, up to " +
                      std::to_string(name_bytes_max) + " of them, and no `.` at the beginning");
  }
  const std::string_view ending = ending_of(request.format);
  std::filesystem::path place = folder;
  const std::string_view run = effect_key.substr(0, effect_key.find('/'));
  if (!run.empty()) {
    if (!is_name(run)) throw RenderError("the run's name cannot be a folder's");
    place /= run;
  }
  const std::string bytes = render(request);
  if (bytes.size() > report_bytes_max) {
    throw RenderError("the report has " + std::to_string(bytes.size()) + " bytes; the maximum is " +
                      std::to_string(report_bytes_max));
  }
  std::error_code error;
  std::filesystem::create_directories(place, error);
  if (error) throw RenderError("`" + place.string() + "` cannot be created: " + error.message());
  ReportFile file;
  file.path = (place / (request.name + std::string(ending))).string();
  file.bytes = static_cast<std::int64_t>(bytes.size());
  const std::unique_ptr<char, decltype(&g_free)> hash(
      g_compute_checksum_for_data(G_CHECKSUM_SHA256, reinterpret_cast<const guchar*>(bytes.data()), bytes.size()),
      g_free);
  file.sha256 = hash.get();
  write_whole(file.path, bytes);
  return file;
}

}  // namespace tenon::report
