#include "cli/stored_image.h"

#include <map>

namespace tenon::cli {

runtime::ImageSource images_without_externs() {
  return [known = std::map<Hash, std::shared_ptr<const runtime::ProgramImage>>()](
             const Hash& hash, std::string_view bundle) mutable
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

}  // namespace tenon::cli
