#include "runtime/program_image.h"

#include <algorithm>

#include "bytecode/codec.h"
#include "effects/program_bundle.h"
#include "inference/answers/json_values.h"
#include "types/table/type_parts.h"

namespace tenon::runtime {

using inference::prompting::PromptTemplates;
using inference::prompting::TemplateKind;

ProgramImage::ProgramImage(std::shared_ptr<const vm::LoadedProgram> program, PromptTemplates templates,
                           std::shared_ptr<const tools::ExternTable> externs)
    : loaded_(std::move(program)),
      prompts_(loaded_->program(), std::move(templates)),
      reader_(loaded_->refinements()),
      externs_(std::move(externs)),
      has_secrets_(types::has_secrets(loaded_->types())) {}

void ProgramImage::make_bundle() const {
  effects::ProgramBundle bundle;
  bundle.program = bytecode::encode(loaded_->program());
  for (std::size_t index = 0; index < inference::prompting::template_count; ++index) {
    const TemplateKind kind{static_cast<std::uint8_t>(index)};
    if (!prompts_.templates().is_recorded(kind)) continue;
    bundle.templates.emplace_back(inference::prompting::template_name(kind), prompts_.templates().source(kind));
  }
  bundle_ = effects::encode(bundle);
  hash_ = sha256(bundle_);
}

const std::string& ProgramImage::bundle() const {
  std::call_once(bundle_once_, [this] { make_bundle(); });
  return bundle_;
}

const Hash& ProgramImage::hash() const {
  std::call_once(bundle_once_, [this] { make_bundle(); });
  return hash_;
}

Result<UnbundledProgram, ImageError> read_bundle(std::string_view bytes) {
  auto bundle = effects::decode_bundle(bytes);
  if (!bundle) return failure(ImageError{std::move(bundle.error().message)});
  auto program = bytecode::decode(bundle->program);
  if (!program) return failure(ImageError{"the program that was kept cannot be read: " + program.error().message});
  auto loaded = vm::LoadedProgram::load(std::make_shared<const bytecode::Program>(std::move(*program)),
                                        inference::answers::make_json_reader);
  if (!loaded) return failure(ImageError{"the program that was kept cannot be run: " + loaded.error().message});
  auto templates = PromptTemplates::from_texts(bundle->templates);
  if (!templates) return failure(ImageError{"a stored prompt template cannot be read: " + templates.error().message});
  return UnbundledProgram{std::move(*loaded), std::move(*templates)};
}

std::optional<std::uint32_t> find_function(const bytecode::Program& program, std::string_view name) {
  std::optional<std::uint32_t> found;
  for (std::uint32_t at = 0; at < program.functions.size(); ++at) {
    const bytecode::Function& function = program.functions[at];
    const bool is_test =
        std::any_of(program.tests.begin(), program.tests.end(), [&](const auto& test) { return test.function == at; });
    if (function.name != name || is_test) continue;
    if (function.place.file == 0) return at;
    if (!found) found = at;
  }
  return found;
}

}  // namespace tenon::runtime
