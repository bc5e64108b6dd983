#include "runtime/prompts.h"

#include <algorithm>

#include "vm/context.h"
#include "vm/tool_sets.h"

namespace tenon::runtime {
namespace {

using bytecode::EntryRole;
using inference::prompting::SitePrompts;

/// Of answers of which several are wanted to one prompt, when the run's own temperature is lower.
constexpr float sampled_temperature = 0.7F;

inference::Role role_of(EntryRole role) {
  switch (role) {
    case EntryRole::Instructions:
      return inference::Role::System;
    case EntryRole::Assistant:
      return inference::Role::Assistant;
    case EntryRole::Data:
    case EntryRole::Person:
      break;
  }
  return inference::Role::User;
}

/// Program text and data that follow one another are one message; what a person said, or was answered, is one each.
std::vector<SitePrompts::Part> split(std::string_view text, const std::vector<std::uint32_t>& ends,
                                     const std::vector<vm::ContextRun>& runs) {
  std::vector<SitePrompts::Part> parts;
  std::size_t entry = 0;
  std::uint32_t begin = 0;
  for (const vm::ContextRun& run : runs) {
    const auto role = static_cast<EntryRole>(run.role);
    std::uint32_t left = run.entries;
    while (left > 0) {
      const std::uint32_t together = role == EntryRole::Data || role == EntryRole::Instructions ? left : 1;
      SitePrompts::Part part;
      part.role = role_of(role);
      for (std::uint32_t at = 0; at < together; ++at) part.entry_ends.push_back(ends[entry++] - begin);
      const bool is_last = entry == ends.size();
      const std::uint32_t end = begin + part.entry_ends.back();
      part.text = text.substr(begin, end - begin - (is_last ? 0 : 1));  // without the newline behind it
      part.entry_ends.back() = static_cast<std::uint32_t>(part.text.size());
      parts.push_back(std::move(part));
      begin = end;
      left -= together;
    }
  }
  // Of several instructions, those of the agent that has taken over count. They are the system message, which stands
  // first.
  const auto is_system = [](const SitePrompts::Part& part) { return part.role == inference::Role::System; };
  const auto newest = std::find_if(parts.rbegin(), parts.rend(), is_system);
  if (newest != parts.rend()) {
    const SitePrompts::Part kept = *newest;
    std::erase_if(parts, is_system);
    parts.insert(parts.begin(), kept);
  }
  return parts;
}

}  // namespace

inference::prompting::CompletionSite completion_site(const vm::Request& request, const bytecode::Program& program) {
  return {request.subject, vm::sets_of(request, program)};
}

inference::GenerationRequest prompt_of(const ProgramImage& image, const RunOptions& options,
                                       const vm::Request& request) {
  const inference::prompting::CompletionSite site = completion_site(request, image.program());
  const std::string_view text = vm::context_text(request.context);
  const std::vector<std::uint32_t> ends = vm::context_entry_ends(request.context);
  const std::vector<vm::ContextRun> runs = vm::context_runs(request.context);
  const bool is_plain = runs.size() <= 1 && (runs.empty() || runs[0].role == 0);
  inference::GenerationRequest prompt =
      is_plain ? image.prompts().make_request(site, text, ends, options.sampling)
               : image.prompts().make_request(site, split(text, ends, runs), options.sampling);
  prompt.timeout = options.generation_timeout;
  prompt.is_judgement = image.program().sites[request.subject].is_judge;
  if (image.program().sites[request.subject].is_sampled) {
    // Requests alike are to be answered differently; the key makes it the same at each replay.
    prompt.sampling.temperature = std::max(prompt.sampling.temperature, sampled_temperature);
    for (const char digit : request.key) {
      prompt.sampling.seed = prompt.sampling.seed * 131 + static_cast<unsigned char>(digit);
    }
  }
  return prompt;
}

}  // namespace tenon::runtime
