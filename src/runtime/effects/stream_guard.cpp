#include "runtime/effects/stream_guard.h"

#include <algorithm>

#include "base/utf8.h"
#include "inference/answers/answer_reader.h"
#include "runtime/program_image.h"
#include "vm/machine.h"

namespace tenon::runtime {
namespace {

/// A look costs as much as the text is long, so the next one waits until it has grown by a share of that.
constexpr std::size_t bytes_between_looks = 16;
constexpr std::size_t share_between_looks = 16;
/// A guard that computes longer than this says nothing.
constexpr std::uint64_t guard_instructions_max = 100'000;

const bytecode::Site& site_of(const ProgramImage& image, std::uint32_t site) {
  return image.program().sites[site];
}

}  // namespace

std::string close_list(std::string_view json) {
  std::string open;            // the brackets around
  std::size_t list_depth = 0;  // brackets around the list's items; 0: no list yet
  std::size_t whole = 0;       // where the last whole item ends
  bool in_text = false;
  for (std::size_t at = 0; at < json.size(); ++at) {
    const char letter = json[at];
    if (in_text) {
      if (letter == '\\') {
        ++at;
      } else if (letter == '"') {
        in_text = false;
      }
      continue;
    }
    switch (letter) {
      case '"':
        in_text = true;
        break;
      case '{':
        open += '}';
        break;
      case '[':
        open += ']';
        if (list_depth == 0) list_depth = open.size();
        break;
      case '}':
      case ']':
        if (!open.empty()) open.pop_back();
        if (list_depth > 0 && open.size() < list_depth) return std::string(json);  // all of it is there
        if (open.size() == list_depth && list_depth > 0) whole = at + 1;
        break;
      case ',':
        if (open.size() == list_depth && list_depth > 0) whole = at;
        break;
      default:
        break;
    }
  }
  if (whole == 0 || open.size() < list_depth) return {};
  std::string closed(json.substr(0, whole));
  const std::string_view closers = std::string_view(open).substr(0, list_depth);
  closed.append(closers.rbegin(), closers.rend());
  return closed;
}

StreamGuard::StreamGuard(const ProgramImage& image, const vm::Request& request)
    : image_(image), site_(request.subject), arguments_(request.arguments) {
  const types::TypeTable& types = image.program().types;
  is_list_ = types.kind(types.base(site_of(image, site_).result)) == types::TypeKind::List;
}

void StreamGuard::restart() {
  text_.clear();
  checked_ = 0;
  attempt_ = 0;
  is_broken_ = false;
}

std::string StreamGuard::answer() const {
  if (is_list_) return close_list(text_);
  const std::size_t invalid = find_invalid_utf8(text_);
  return text_.substr(0, invalid);
}

bool StreamGuard::add(std::uint32_t attempt, std::string_view piece) {
  if (attempt != attempt_) {
    restart();
    attempt_ = attempt;
  }
  if (is_broken_) return true;
  text_ += piece;
  if (text_.size() < checked_ + std::max(bytes_between_looks, checked_ / share_between_looks)) return false;
  checked_ = text_.size();
  is_broken_ = !holds();
  return is_broken_;
}

/// True as long as a violation is not certain.
bool StreamGuard::holds() const {
  const std::string said = answer();
  if (said.empty()) return true;
  auto read = inference::answers::read_answer(image_.reader(), *image_.prompts().shape(site_), said);
  if (!read) return true;
  std::vector<vm::Argument> arguments;
  for (const vm::Value& argument : arguments_) arguments.push_back({argument, std::nullopt});
  arguments.push_back({std::move(read->values.at(0)), std::nullopt});
  vm::Machine machine(image_.loaded(), site_of(image_, site_).guard, std::move(arguments));
  const vm::Step end = machine.run(guard_instructions_max);
  const auto* const finished = std::get_if<vm::Finished>(&end);
  return finished == nullptr || finished->value.bits() != 0;
}

inference::Usage estimate_usage(const inference::GenerationRequest& request, std::string_view said,
                                inference::Usage reported) {
  if (reported.prompt > 0 || reported.generated > 0) return reported;
  constexpr std::size_t bytes_a_token = 4;
  std::size_t bytes = 0;
  for (const inference::Message& message : request.messages) bytes += message.text.size();
  reported.prompt = reported.computed = static_cast<std::uint32_t>((bytes + bytes_a_token - 1) / bytes_a_token);
  reported.generated = static_cast<std::uint32_t>((said.size() + bytes_a_token - 1) / bytes_a_token);
  reported.is_reuse_known = false;
  reported.is_estimated = true;
  return reported;
}

}  // namespace tenon::runtime
