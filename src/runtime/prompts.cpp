#include "runtime/prompts.h"

#include <algorithm>

#include "vm/execution/tool_sets.h"
#include "vm/values/context.h"

namespace tenon::runtime {
namespace {

using bytecode::EntryRole;
using inference::prompting::CompletionSite;
using inference::prompting::ContextPart;

/// For several answers to one prompt, when the run's own temperature is lower.
constexpr float sampled_temperature = 0.7F;

/// Whether consecutive entries of the role form one part. Each message of a person or an assistant is its own part.
bool are_joined(EntryRole role) {
  return role != EntryRole::Person && role != EntryRole::Assistant;
}

std::vector<ContextPart> split(const vm::Value& context, const std::vector<bool>& has_data) {
  const std::string_view text = vm::context_text(context);
  const std::vector<std::uint32_t> ends = vm::context_entry_ends(context);
  std::vector<ContextPart> parts;
  std::size_t entry = 0;
  std::uint32_t begin = 0;
  for (const vm::ContextRun& run : vm::context_runs(context)) {
    const auto role = static_cast<EntryRole>(run.role);
    std::uint32_t left = run.entries;
    while (left > 0) {
      const std::uint32_t together = are_joined(role) ? left : 1;
      ContextPart part;
      part.role = role;
      for (std::uint32_t at = 0; at < together; ++at) {
        if (!has_data.empty()) part.has_data.push_back(has_data[entry]);
        part.entry_ends.push_back(ends[entry++] - begin);
      }
      const bool is_last = entry == ends.size();
      const std::uint32_t end = begin + part.entry_ends.back();
      part.text = text.substr(begin, end - begin - (is_last ? 0 : 1));  // without the newline after it
      part.entry_ends.back() = static_cast<std::uint32_t>(part.text.size());
      parts.push_back(std::move(part));
      begin = end;
      left -= together;
    }
  }
  // If there are several instructions, only those of the current agent are sent, as the system message, which comes
  // first.
  const auto is_system = [](const ContextPart& part) { return part.role == EntryRole::Instructions; };
  const auto newest = std::find_if(parts.rbegin(), parts.rend(), is_system);
  if (newest != parts.rend()) {
    const ContextPart kept = *newest;
    std::erase_if(parts, is_system);
    parts.insert(parts.begin(), kept);
  }
  return parts;
}

/// Which entries are to be marked as data; empty: none.
std::vector<bool> data_entries(const inference::prompting::SitePrompts& prompts, const vm::Request& request) {
  if (!prompts.marks_data()) return {};
  return vm::context_data_entries(request.context);
}

}  // namespace

CompletionSite completion_site(const vm::Request& request, const bytecode::Program& program) {
  return {request.subject, vm::sets_of(request, program)};
}

Hash form_of(const ProgramImage& image, const vm::Request& request) {
  if (request.kind == vm::RequestKind::Extern) return {};
  const Hash fixed = image.prompts().fixed_hash(completion_site(request, image.program()));
  const std::vector<bool> marked = data_entries(image.prompts(), request);
  if (marked.empty()) return fixed;
  std::string marks;
  for (const bool is_marked : marked) marks += is_marked ? '1' : '0';
  return sha256(fixed.view(), marks);
}

inference::GenerationRequest prompt_of(const ProgramImage& image, const RunOptions& options,
                                       const vm::Request& request) {
  const CompletionSite site = completion_site(request, image.program());
  const inference::prompting::SitePrompts& prompts = image.prompts();
  const std::vector<vm::ContextRun> runs = vm::context_runs(request.context);
  const bool is_plain = runs.empty() || (runs.size() == 1 && runs[0].role == 0 && !prompts.marks_data());
  inference::GenerationRequest prompt =
      is_plain ? prompts.make_request(site, vm::context_text(request.context), vm::context_entry_ends(request.context),
                                      options.sampling)
               : prompts.make_request(site, split(request.context, data_entries(prompts, request)), options.sampling);
  prompt.timeout = options.generation_timeout;
  prompt.is_judgement = image.program().sites[request.subject].is_judge;
  if (image.program().sites[request.subject].is_sampled) {
    // Equal requests need different answers; the key makes the seed the same at each replay.
    prompt.sampling.temperature = std::max(prompt.sampling.temperature, sampled_temperature);
    for (const char digit : request.key) {
      prompt.sampling.seed = prompt.sampling.seed * 131 + static_cast<unsigned char>(digit);
    }
  }
  return prompt;
}

}  // namespace tenon::runtime
