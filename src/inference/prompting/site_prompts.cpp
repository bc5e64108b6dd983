#include "inference/prompting/site_prompts.h"

#include <utility>

#include "base/ensure.h"
#include "inference/answers/outline.h"

namespace tenon::inference::prompting {
namespace {

using answers::flatten;

/// What is kept of places with sets of tools, which differ by what the sets hold.
constexpr std::size_t prepared_sets_max = 1'000;

void add_message(GenerationRequest& request, std::string text) {
  if (!text.empty()) request.messages.push_back({Role::User, std::move(text), {}});
}

/// Whether the outline says nothing that its keys do not say: a backend that enforces a schema need not show it.
bool is_undocumented(const answers::AnswerShape& shape) {
  return shape.outline.find("// ") == std::string::npos;
}

std::string list_holes(const answers::AnswerClause& clause) {
  std::string text;
  for (const answers::AnswerItem& item : clause.items) text += (text.empty() ? "" : ", ") + item.key;
  return text;
}

}  // namespace

SitePrompts::SitePrompts(const bytecode::Program& program, PromptTemplates templates)
    : program_(program), templates_(std::move(templates)), slots_(program.sites.size()) {}

std::shared_ptr<const answers::AnswerShape> SitePrompts::shape(const CompletionSite& where) const {
  const std::shared_ptr<const Prepared> prepared = get(where);
  return {prepared, &prepared->shape};
}

GenerationRequest SitePrompts::make_request(const CompletionSite& where, std::string_view context,
                                            std::span<const std::uint32_t> entry_ends, const Sampling& sampling) const {
  const std::shared_ptr<const Prepared> kept = get(where);
  const Prepared& prepared = *kept;
  GenerationRequest request;
  request.schema = prepared.shape.schema;
  request.text_form = prepared.shape.text_form;
  request.sampling = sampling;
  request.label = prepared.label;
  if (!context.empty() || !entry_ends.empty()) {
    Message message;
    message.entry_ends.assign(entry_ends.begin(), entry_ends.end());
    if (prepared.clauses.empty()) {
      message.text = context;
    } else {
      message.text.reserve(context.size() + 2 + prepared.clauses.size());
      message.text.append(context).append("\n\n").append(prepared.clauses);
      if (!entry_ends.empty() && entry_ends.back() == context.size()) ++message.entry_ends.back();
    }
    request.messages.push_back(std::move(message));
  } else {
    add_message(request, prepared.clauses);
    add_message(request, prepared.empty);
  }
  add_note(prepared, request);
  return request;
}

GenerationRequest SitePrompts::make_request(const CompletionSite& where, std::span<const Part> parts,
                                            const Sampling& sampling) const {
  const std::shared_ptr<const Prepared> kept = get(where);
  const Prepared& prepared = *kept;
  GenerationRequest request;
  request.schema = prepared.shape.schema;
  request.text_form = prepared.shape.text_form;
  request.sampling = sampling;
  request.label = prepared.label;
  for (const Part& part : parts) request.messages.push_back({part.role, std::string(part.text), part.entry_ends});
  if (!prepared.clauses.empty() && !request.messages.empty() && request.messages.back().role == Role::User) {
    Message& last = request.messages.back();
    if (!last.entry_ends.empty() && last.entry_ends.back() == last.text.size()) ++last.entry_ends.back();
    last.text.append("\n\n").append(prepared.clauses);
  } else {
    add_message(request, prepared.clauses);
  }
  add_note(prepared, request);
  return request;
}

void SitePrompts::add_note(const Prepared& prepared, GenerationRequest& request) {
  if (prepared.is_form && !prepared.note.empty()) request.form_note = request.messages.size();
  add_message(request, prepared.note);
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
  std::string fixed;
  const std::string_view schema = prepared.shape.schema ? std::string_view(prepared.shape.schema->json_schema) : "";
  for (const std::string_view part : {std::string_view(prepared.clauses), std::string_view(prepared.empty),
                                      std::string_view(prepared.note), schema}) {
    fixed += std::to_string(part.size());
    fixed += ':';
    fixed += part;
  }
  prepared.fixed_hash = sha256(fixed);
  return prepared;
}

void SitePrompts::prepare_completion(const bytecode::Site& site, Prepared& prepared) const {
  const bytecode::Function& function = program_.functions[site.function];
  prepared.label = function.name;
  TemplateData data;
  data.texts["function"] = function.name;
  data.texts["signature"] = make_signature(program_.types, function);
  data.texts["documentation"] = flatten(function.documentation);
  prepared.empty = templates_.render(TemplateKind::Empty, data);
  if (prepared.shape.outline.empty()) return;
  data.texts["outline"] = prepared.shape.outline;
  const bool is_text = prepared.shape.form == answers::AnswerForm::Text;
  prepared.note = templates_.render(is_text ? TemplateKind::Text : TemplateKind::Format, data);
  prepared.is_form = !is_text && is_undocumented(prepared.shape);
}

void SitePrompts::prepare_fill(const bytecode::Site& site, Prepared& prepared) const {
  prepared.label = site.call.name;
  TemplateData data;
  data.texts["function"] = site.call.name;
  data.texts["signature"] = site.call.signature;
  data.texts["documentation"] = flatten(site.call.documentation);
  data.texts["holes"] = list_holes(prepared.shape.clauses.front());
  data.texts["outline"] = prepared.shape.outline;
  prepared.note = templates_.render(TemplateKind::Fill, data);
}

void SitePrompts::prepare_select(const bytecode::Site& site, Prepared& prepared) const {
  prepared.label = "select";
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
      element.texts["documentation"] = flatten(clause.call.documentation);
    }
    clauses.push_back(std::move(element));
  }
  prepared.clauses = templates_.render(TemplateKind::Select, data);
  TemplateData note;
  note.texts["function"] = prepared.label;
  note.texts["outline"] = prepared.shape.outline;
  prepared.note = templates_.render(TemplateKind::Format, note);
  prepared.is_form = is_undocumented(prepared.shape);
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
