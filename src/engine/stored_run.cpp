#include "engine/stored_run.h"

#include <fmt/format.h>

#include <map>

#include "engine/program.h"
#include "engine/store_access.h"

namespace tenon::engine {

runtime::ImageSource images_without_externs() {
  return [known = std::map<Hash, std::shared_ptr<const runtime::ProgramImage>>()](const Hash& hash,
                                                                                  std::string_view bundle) mutable
         -> Result<std::shared_ptr<const runtime::ProgramImage>, runtime::ImageError> {
    auto& image = known[hash];
    if (image == nullptr) {
      auto program = runtime::read_bundle(bundle);
      if (!program) return failure(std::move(program.error()));
      image = make_image(program->loaded, std::move(program->templates));
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

Result<StoredRun, EngineError> read_stored_run(journal::Store& store, const journal::RunName& run) {
  auto head = store.head(run);
  if (!head) return failure(to_error(head.error()));
  if (head->summary.state == journal::RunState::Forgotten) {
    return failure(EngineError{EngineError::Kind::NotFound,
                               fmt::format("run {} was forgotten: its contents were removed", run.text)});
  }
  auto started = runtime::read_program(store, run);
  if (!started) return failure(to_error(started.error()));
  const auto bundle = store.content(run, started->program);
  if (!bundle) return failure(to_error(bundle.error()));
  auto program = runtime::read_bundle(*bundle);
  if (!program) return failure(EngineError{EngineError::Kind::Failed, std::move(program.error().message)});
  return StoredRun{std::move(*started), std::move(*program), journal::has_ended(head->summary.state)};
}

}  // namespace tenon::engine
