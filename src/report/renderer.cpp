// The library that extern.c, to which std::report is bound, opens for the first report.

#include <cstdlib>
#include <exception>

#include <tenon/extern.h>
#include "report/render_error.h"
#include "report/report_file.h"

namespace {

std::string text_argument(tenon_call* call, std::size_t index) {
  const tenon_text text = tenon_as_text(call, tenon_argument(call, index));
  return {text.data, text.length};
}

void put_text(tenon_call* call, const char* field, const std::string& text) {
  tenon_put_text(call, tenon_put_field(call, tenon_result(call), field), text.data(), text.size());
}

}  // namespace

extern "C" TENON_EXPORT void tenon_report_render(tenon_call* call) {
  try {
    tenon::report::ReportRequest request;
    request.name = text_argument(call, 0);
    request.title = text_argument(call, 1);
    request.text = text_argument(call, 2);
    request.format = text_argument(call, 3);
    request.milliseconds = tenon_as_i64(call, tenon_argument(call, 4));
    if (tenon_failed(call)) return;
    const char* const folder = std::getenv("TENON_REPORTS");
    const auto file = tenon::report::write_report(folder != nullptr && *folder != '\0' ? folder : "reports",
                                                  tenon_effect_key(call), request);
    put_text(call, "name", request.name);
    put_text(call, "format", request.format);
    put_text(call, "path", file.path);
    tenon_put_i64(call, tenon_put_field(call, tenon_result(call), "bytes"), file.bytes);
    put_text(call, "sha256", file.sha256);
  } catch (const std::exception& error) {
    tenon_fail(call, "%s", error.what());
  }
}
