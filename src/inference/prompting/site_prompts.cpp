#include "inference/prompting/site_prompts.h"

#include <algorithm>
#include <ranges>
#include <utility>

#include "base/ensure.h"
#include "bytecode/library.h"
#include "inference/answers/key_words.h"
#include "inference/answers/outline.h"

namespace tenon::inference::prompting {
namespace {

using answers::flatten;

/// Kept for sites with sets of tools, whose requests differ by what the sets contain.
constexpr std::size_t prepared_sets_max = 1'000;

/// Hexadecimal digits of the mark that closes marked data: the data cannot contain the hash of itself.
constexpr std::size_t mark_digits = 16;

void add_message(GenerationRequest& request, std::string text) {
  if (!text.empty()) request.messages.push_back({Role::User, std::move(text), {}});
}

std::string list_holes(const answers::AnswerClause& clause) {
  std::string text;
  for (const answers::AnswerItem& item : clause.items) text += (text.empty() ? "" : ", ") + item.key;
  return text;
}

/// The given arguments of a call as its code has them: `x = 2, unit = "km"`.
std::string list_given(const bytecode::CallShape& call) {
  std::string text;
  for (std::size_t at = 0; at < call.given.size(); ++at) {
    if (call.given[at].empty()) continue;
    text += (text.empty() ? "" : ", ") + call.parameter_names[at] + " = " + call.given[at];
  }
  return text;
}

/// Whether the part is what the program, a person or a model said, and not a note about the answer.
bool is_said(const ContextPart& part) {
  return part.role != bytecode::EntryRole::Requirement && part.role != bytecode::EntryRole::Refusal;
}

/// Calls `use(text, index)` for each entry of the part, without the newline after it.
template <class Use>
void for_each_entry(const ContextPart& part, Use&& use) {
  std::size_t begin = 0;
  for (std::size_t at = 0; at < part.entry_ends.size(); ++at) {
    const std::size_t end = part.entry_ends[at];
    std::string_view entry = part.text.substr(begin, end - begin);
    if (at + 1 < part.entry_ends.size()) entry.remove_suffix(1);
    use(entry, at);
    begin = end;
  }
}

/// `text` with the lines after the first one indented, so that none of them passes for an item of the same list.
std::string as_item(std::string_view text) {
  std::string item;
  for (const char c : text) {
    item += c;
    if (c == '\n') item += "  ";
  }
  return item;
}

}  // namespace

Role role_of(bytecode::EntryRole role) {
  switch (role) {
    case bytecode::EntryRole::Instructions:
      return Role::System;
    case bytecode::EntryRole::Assistant:
      return Role::Assistant;
    case bytecode::EntryRole::Data:
    case bytecode::EntryRole::Person:
    case bytecode::EntryRole::Requirement:
    case bytecode::EntryRole::Refusal:
      break;
  }
  return Role::User;
}

SitePrompts::SitePrompts(const bytecode::Program& program, PromptTemplates templates)
    : program_(program), templates_(std::move(templates)), slots_(program.sites.size()) {
  marks_data_ = !templates_.render(TemplateKind::Data, {{{"data", "data"}, {"mark", "mark"}}, {}}).empty();
}

std::shared_ptr<const answers::AnswerShape> SitePrompts::shape(const CompletionSite& where) const {
  const std::shared_ptr<const Prepared> prepared = get(where);
  return {prepared, &prepared->shape};
}

GenerationRequest SitePrompts::make_request(const CompletionSite& where, std::string_view context,
                                            std::span<const std::uint32_t> entry_ends, const Sampling& sampling) const {
  if (context.empty() && entry_ends.empty()) return make_request(where, std::span<const ContextPart>(), sampling);
  ContextPart part;
  part.text = context;
  part.entry_ends.assign(entry_ends.begin(), entry_ends.end());
  return make_request(where, std::span(&part, 1), sampling);
}

GenerationRequest SitePrompts::make_request(const CompletionSite& where, std::span<const ContextPart> parts,
                                            const Sampling& sampling) const {
  const std::shared_ptr<const Prepared> kept = get(where);
  const Prepared& prepared = *kept;
  GenerationRequest request;
  request.schema = prepared.shape.schema;
  request.text_form = prepared.shape.text_form;
  request.sampling = sampling;
  request.label = prepared.label;
  if (std::ranges::none_of(parts, is_said)) add_message(request, prepared.empty);
  bool has_answer = false;  // before the part
  for (const ContextPart& part : parts) {
    if (part.role == bytecode::EntryRole::Requirement) {
      add_message(request, render_requirements(prepared, part));
    } else if (part.role == bytecode::EntryRole::Refusal) {
      add_message(request, render_refusal(prepared, part, has_answer));
    } else {
      request.messages.push_back(make_message(part));
    }
    has_answer = part.role == bytecode::EntryRole::Assistant;
  }
  const bool ends_with_user = !parts.empty() && is_said(parts.back()) && role_of(parts.back().role) == Role::User;
  if (!prepared.clauses.empty() && ends_with_user) {
    Message& last = request.messages.back();
    if (!last.entry_ends.empty() && last.entry_ends.back() == last.text.size()) ++last.entry_ends.back();
    last.text.append("\n\n").append(prepared.clauses);
  } else {
    add_message(request, prepared.clauses);
  }
  if (prepared.form) {
    request.form_note = prepared.form;
    request.form_note->message = request.messages.size();
  }
  add_message(request, prepared.note);
  return request;
}

Message SitePrompts::make_message(const ContextPart& part) const {
  Message message;
  message.role = role_of(part.role);
  const bool is_marked = marks_data_ && part.role == bytecode::EntryRole::Data &&
                         std::find(part.has_data.begin(), part.has_data.end(), true) != part.has_data.end();
  if (!is_marked) {
    message.text = part.text;
    message.entry_ends = part.entry_ends;
    return message;
  }
  for_each_entry(part, [&](std::string_view entry, std::size_t at) {
    if (!message.text.empty()) {
      message.text += '\n';
      message.entry_ends.push_back(static_cast<std::uint32_t>(message.text.size()));
    }
    if (at < part.has_data.size() && part.has_data[at]) {
      TemplateData data;
      data.texts["data"] = entry;
      data.texts["mark"] = sha256(entry).hex().substr(0, mark_digits);
      message.text += templates_.render(TemplateKind::Data, data);
    } else {
      message.text += entry;
    }
  });
  message.entry_ends.push_back(static_cast<std::uint32_t>(message.text.size()));
  return message;
}

std::string SitePrompts::render_requirements(const Prepared& prepared, const ContextPart& part) const {
  TemplateData data;
  data.texts["function"] = prepared.label;
  std::vector<TemplateData>& list = data.lists["requirements"];
  for_each_entry(part, [&](std::string_view entry, std::size_t) {
    list.push_back({{{"requirement", as_item(entry)}}, {}});
  });
  return templates_.render(TemplateKind::Ensures, data);
}

std::string SitePrompts::render_refusal(const Prepared& prepared, const ContextPart& part, bool has_answer) const {
  TemplateData data;
  data.texts["function"] = prepared.label;
  data.texts["answer"] = has_answer ? "shown" : "";
  data.texts["arguments"] = prepared.arguments;
  std::vector<TemplateData>& list = data.lists["reasons"];
  for_each_entry(part, [&](std::string_view entry, std::size_t) {
    if (!entry.empty()) list.push_back({{{"reason", as_item(entry)}}, {}});
  });
  return templates_.render(TemplateKind::Refused, data);
}

std::string SitePrompts::make_repair_note(const CompletionSite& where, std::span<const std::string> problems) const {
  const std::shared_ptr<const Prepared> kept = get(where);
  const Prepared& prepared = *kept;
  TemplateData data;
  data.texts["function"] = prepared.label;
  if (prepared.shape.form == answers::AnswerForm::Json) data.texts["outline"] = prepared.shape.outline;
  std::vector<TemplateData>& list = data.lists["problems"];
  for (const std::string& problem : problems) list.push_back({{{"problem", problem}}, {}});
  return templates_.render(TemplateKind::Repair, data);
}

std::shared_ptr<const SitePrompts::Prepared> SitePrompts::get(const CompletionSite& where) const {
  ENSURE(where.site < slots_.size());
  const bytecode::Site& site = program_.sites[where.site];
  if (bytecode::count_sets(site) == 0) {
    Slot& slot = slots_[where.site];
    std::call_once(slot.once, [&] { slot.prepared = prepare(site); });
    return {std::shared_ptr<const void>(), &slot.prepared};
  }
  const std::lock_guard lock(sets_mutex_);
  if (const auto found = with_sets_.find(where); found != with_sets_.end()) return found->second;
  if (with_sets_.size() >= prepared_sets_max) with_sets_.clear();
  auto prepared = std::make_shared<const Prepared>(prepare(bytecode::with_tools(program_, site, where.sets)));
  with_sets_.emplace(where, prepared);
  return prepared;
}

SitePrompts::Prepared SitePrompts::prepare(const bytecode::Site& site) const {
  Prepared prepared;
  prepared.shape = answers::make_answer_shape(program_, site);
  switch (site.kind) {
    case bytecode::SiteKind::Completion:
      prepare_completion(site, prepared);
      break;
    case bytecode::SiteKind::Fill:
      prepare_fill(site, prepared);
      break;
    case bytecode::SiteKind::Select:
      prepare_select(site, prepared);
      break;
  }
  prepared.fixed_hash = make_fixed_hash(prepared);
  return prepared;
}

Hash SitePrompts::make_fixed_hash(const Prepared& prepared) const {
  std::string fixed;
  const auto add = [&](std::string_view part) {
    fixed += std::to_string(part.size());
    fixed += ':';
    fixed += part;
  };
  add(prepared.clauses);
  add(prepared.empty);
  add(prepared.note);
  add(prepared.shape.schema ? std::string_view(prepared.shape.schema->json_schema) : "");
  // Older programs were recorded without these templates, and their journals have hashes without them.
  if (templates_.is_recorded(TemplateKind::Ensures)) {
    for (const TemplateKind kind :
         {TemplateKind::Repair, TemplateKind::Ensures, TemplateKind::Refused, TemplateKind::Data}) {
      add(templates_.source(kind));
    }
  }
  return sha256(fixed);
}

void SitePrompts::prepare_completion(const bytecode::Site& site, Prepared& prepared) const {
  const bytecode::Function& function = program_.functions[site.function];
  prepared.label = bytecode::shown_name(program_, function);
  TemplateData data;
  data.texts["function"] = function.name;
  data.texts["signature"] = make_signature(program_.types, function);
  data.texts["documentation"] = flatten(function.documentation);
  prepared.empty = templates_.render(TemplateKind::Empty, data);
  if (prepared.shape.outline.empty()) return;
  data.texts["outline"] = prepared.shape.outline;
  const bool is_text = prepared.shape.form == answers::AnswerForm::Text;
  prepared.note = templates_.render(is_text ? TemplateKind::Text : TemplateKind::Format, data);
  mark_form(prepared, 0);
}

void SitePrompts::prepare_fill(const bytecode::Site& site, Prepared& prepared) const {
  prepared.label = site.call.name;
  prepared.arguments = list_holes(prepared.shape.clauses.front());
  TemplateData data;
  data.texts["function"] = site.call.name;
  data.texts["signature"] = site.call.signature;
  data.texts["documentation"] = flatten(site.call.documentation);
  data.texts["given"] = list_given(site.call);
  data.texts["holes"] = prepared.arguments;
  data.texts["outline"] = prepared.shape.outline;
  const std::string without_form = templates_.render(TemplateKind::Fill, data);
  data.texts["form"] = "described";
  prepared.note = templates_.render(TemplateKind::Fill, data);
  // Styles that do not say what is about the form are sent as a whole.
  if (prepared.note != without_form && prepared.note.starts_with(without_form)) {
    mark_form(prepared, without_form.size());
  }
}

void SitePrompts::mark_form(Prepared& prepared, std::size_t begin) const {
  if (prepared.note.empty()) return;
  FormNote form;
  form.begin = begin;
  form.is_bare = prepared.shape.outline.find("// ") == std::string::npos;
  TemplateData data;
  data.texts["function"] = prepared.label;
  std::vector<TemplateData>& keys = data.lists["keys"];
  for (const answers::KeyWords& key : answers::list_key_words(program_.types, prepared.shape)) {
    keys.push_back({{{"key", key.key}, {"words", key.words}}, {}});
  }
  if (!keys.empty()) form.keys = templates_.render(TemplateKind::Keys, data);
  prepared.form = std::move(form);
}

void SitePrompts::prepare_select(const bytecode::Site& site, Prepared& prepared) const {
  prepared.label = "select";
  prepared.arguments = "arguments";
  TemplateData data;
  std::vector<TemplateData>& clauses = data.lists["clauses"];
  for (std::size_t index = 0; index < site.clauses.size(); ++index) {
    const bytecode::Clause& clause = site.clauses[index];
    TemplateData element;
    element.texts["index"] = std::to_string(index);
    element.texts["binding"] = clause.binding;
    if (!clause.is_else) {
      element.texts["function"] = clause.call.name;
      element.texts["signature"] = clause.call.signature;
      element.texts["given"] = list_given(clause.call);
      element.texts["documentation"] = flatten(clause.call.documentation);
    }
    clauses.push_back(std::move(element));
  }
  prepared.clauses = templates_.render(TemplateKind::Select, data);
  TemplateData note;
  note.texts["function"] = prepared.label;
  note.texts["outline"] = prepared.shape.outline;
  prepared.note = templates_.render(TemplateKind::Format, note);
  mark_form(prepared, 0);
}

std::string make_signature(const types::TypeTable& types, const bytecode::Function& function) {
  std::string text = function.name + "(";
  bool is_first = true;
  for (std::size_t index = 0; index < function.parameters.size(); ++index) {
    if (types.kind(function.parameters[index]) == types::TypeKind::Context) continue;
    if (!is_first) text += ", ";
    is_first = false;
    text += function.parameter_names[index] + ": " + types.describe(function.parameters[index]);
  }
  return text + ") -> " + types.describe(function.result);
}

}  // namespace tenon::inference::prompting
