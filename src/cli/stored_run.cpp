#include "cli/stored_run.h"

#include <fmt/format.h>

#include <map>

namespace tenon::cli {

runtime::ImageSource images_without_externs() {
  return [known = std::map<Hash, std::shared_ptr<const runtime::ProgramImage>>()](const Hash& hash,
                                                                                  std::string_view bundle) mutable
         -> Result<std::shared_ptr<const runtime::ProgramImage>, runtime::ImageError> {
    auto& image = known[hash];
    if (image == nullptr) {
      auto program = runtime::read_bundle(bundle);
      if (!program) return failure(std::move(program.error()));
      image = std::make_shared<const runtime::ProgramImage>(program->loaded, std::move(program->templates), nullptr);
    }
    return image;
  };
}

runtime::ImageSource images_with(std::shared_ptr<const runtime::ProgramImage> image) {
  return [image = std::move(image), others = images_without_externs()](const Hash& hash, std::string_view bundle) {
    using Found = Result<std::shared_ptr<const runtime::ProgramImage>, runtime::ImageError>;
    return hash == image->hash() ? Found(image) : others(hash, bundle);
  };
}

std::optional<StoredRun> read_stored_run(journal::Store& store, const journal::RunName& run,
                                         const Environment& environment) {
  const auto refuse = [&](std::string_view message) {
    fail(message, environment);
    return std::nullopt;
  };
  auto head = store.head(run);
  if (!head) return refuse(head.error().message);
  if (head->summary.state == journal::RunState::Forgotten) {
    return refuse(fmt::format("run {} was forgotten: its contents were removed", run.text));
  }
  auto started = runtime::read_program(store, run);
  if (!started) return refuse(started.error().message);
  const auto bundle = store.content(run, started->program);
  if (!bundle) return refuse(bundle.error().message);
  auto program = runtime::read_bundle(*bundle);
  if (!program) return refuse(program.error().message);
  return StoredRun{std::move(*started), std::move(*program), journal::has_ended(head->summary.state)};
}

}  // namespace tenon::cli
