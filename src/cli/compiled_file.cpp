#include "cli/compiled_file.h"

#include <utility>

#include "cli/engine_report.h"

namespace tenon::cli {

Result<CompiledFile, int> compile_file(const std::string& path, const Environment& environment) {
  auto manifest = engine::read_manifest(path, environment.system);
  if (!manifest) return failure(report(manifest.error(), environment));
  auto compiled = engine::compile({path}, environment.system);
  if (!compiled) return failure(report(compiled.error(), environment));
  report(compiled->warnings, environment);
  return CompiledFile{std::move(*compiled), std::move(*manifest)};
}

}  // namespace tenon::cli
