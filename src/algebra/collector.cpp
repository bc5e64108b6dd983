#include "algebra/collector.h"

#include <algorithm>
#include <charconv>

#include "base/ensure.h"
#include "json/reader.h"
#include "runtime/label_sources.h"

#include "vm/execution/tool_sets.h"
#include "vm/machine_state.h"
#include "vm/values/context.h"

namespace tenon::algebra {
namespace {

using effects::EffectKind;

/// What is written for a result that the language cannot write down: it is nested too deep for any recording.
constexpr std::string_view unwritable = "null";

std::uint64_t to_number(std::string_view digits) {
  std::uint64_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

/// `3.1.0` -> `3.1`, and 0; a key without a dot is of the run's first branch, whose key is empty.
std::pair<std::string_view, std::uint64_t> split_last(std::string_view key) {
  const std::size_t dot = key.rfind('.');
  if (dot == std::string_view::npos) return {{}, to_number(key)};
  return {key.substr(0, dot), to_number(key.substr(dot + 1))};
}

/// The key of the branch that makes a request. A turn's requests have its number and a slash in front.
std::string_view branch_of(std::string_view request_key) {
  const std::size_t slash = request_key.find('/');
  if (slash != std::string_view::npos) request_key.remove_prefix(slash + 1);
  return split_last(request_key).first;
}

std::string describe_sources(const runtime::Sources& sources) {
  std::string text;
  for (const vm::Source& source : sources) text += (text.empty() ? "" : ", ") + vm::describe(source);
  return text;
}

}  // namespace

const vm::Fiber& Collector::fiber(std::string_view key) const {
  const auto found = std::find_if(state_->fibers.begin(), state_->fibers.end(),
                                  [&](const auto& entry) { return entry.second->key == key; });
  ENSURE(found != state_->fibers.end());
  return *found->second;
}

Collector::Branch& Collector::branch(std::string_view key) {
  if (newest_ != nullptr && newest_->key == key) return *newest_;
  auto& slot = branches_[std::string(key)];
  if (slot == nullptr) {
    slot = std::make_unique<Branch>();
    slot->key = key;
    Branch& made = *slot;
    if (!key.empty()) {
      const auto [block_key, number] = split_last(key);
      const auto [parent_key, ordinal] = split_last(block_key);
      Branch& parent = branch(parent_key);
      if (!parent.blocks.contains(ordinal)) parent.items.push_back({0, ordinal});
      const auto item = std::find_if(parent.items.begin(), parent.items.end(),
                                     [block = ordinal](const Item& other) { return other.block == block; });
      made.name = parent.name + std::to_string(item - parent.items.begin()) + '.' + std::to_string(number) + '.';
      made.parent = parent.open.empty() ? parent.parent : std::optional(parent.open.back().call);
      parent.blocks[ordinal].emplace(static_cast<std::uint32_t>(number), &made);
    }
    newest_ = &made;
    return made;
  }
  newest_ = slot.get();
  return *slot;
}

std::uint32_t Collector::add_call(Branch& branch, std::uint32_t tool) {
  const auto index = static_cast<std::uint32_t>(calls_.size());
  Call call;
  call.tool = tool;
  call.at = branch.name + std::to_string(branch.items.size());
  call.parent = branch.open.empty() ? branch.parent : std::optional(branch.open.back().call);
  if (call.parent) call.depth = calls_[*call.parent].depth + 1;
  calls_.push_back(std::move(call));
  branch.items.push_back({index, std::nullopt});
  return index;
}

std::optional<std::uint32_t> Collector::take_awaited(Branch& branch, const vm::Frame& caller) {
  const auto found = std::find_if(branch.awaited.begin(), branch.awaited.end(), [&](const AwaitedCall& awaited) {
    return awaited.depth == branch.depth && awaited.pc == caller.pc &&
           awaited.function.value_or(caller.function) == caller.function;
  });
  if (found == branch.awaited.end()) return std::nullopt;
  const std::uint32_t call = found->call;
  branch.awaited.erase(found);
  return call;
}

void Collector::add_context(const vm::Value& context) {
  static_cast<void>(vm::context_hash(context));  // makes those of all nodes
  for (const vm::ContextNode* node = &vm::node_of(context); node->length > 0; node = node->parent) {
    const vm::ContextNode& parent = *node->parent;
    ContextEntry entry{parent.length > 0 ? *parent.hash : Hash{}, node->role, std::string(node->entry.as_text())};
    if (!contexts_.emplace(*node->hash, std::move(entry)).second) return;
  }
}

std::string Collector::write(const vm::Value& value, types::TypeId type) {
  if (value.tag() == vm::Tag::Context) add_context(value);
  std::string text;
  if (!effects::write_value(value, type, image_.program().types, text, effects::SecretForm::Named))
    return std::string(unwritable);
  return text;
}

std::string Collector::origin_of(std::span<const vm::Value> values) const {
  if (labels_ == Labels::Dropped) return {};
  runtime::Sources all;
  for (const vm::Value& value : values) all = runtime::join(all, runtime::sources_of(state_->labels, value));
  return describe_sources(all);
}

/// As the machine labels what comes of the request (vm/execution/effects.cpp).
std::string Collector::origin_of_outcome(const vm::Request& request) const {
  if (labels_ == Labels::Dropped) return {};
  const bytecode::Program& program = image_.program();
  runtime::Sources seen = runtime::sources_of(state_->labels, request.label);
  if (request.kind != vm::RequestKind::Extern) {
    const bool is_narrow = request.kind == vm::RequestKind::Complete && program.sites[request.subject].narrow_bits;
    if (is_narrow) return describe_sources({{vm::SourceKind::Narrow, program.functions[request.function].name}});
    return describe_sources(runtime::join(seen, {{vm::SourceKind::Model, ""}}));
  }
  const bytecode::Extern& callee = program.externs[request.subject];
  if (callee.builtin_effect == types::BuiltinEffect::Approve) return describe_sources({{vm::SourceKind::Approved, ""}});
  if (callee.is_vouched) return describe_sources(seen);
  const bool is_native = callee.builtin_effect == types::BuiltinEffect::Native;
  if (is_native) seen = runtime::join(seen, {{vm::SourceKind::Extern, callee.name}});
  if (types::asks_person(callee.builtin_effect)) seen = runtime::join(seen, {{vm::SourceKind::Person, ""}});
  return describe_sources(seen);
}

void Collector::begin(runtime::RunCore& core) {
  state_ = &core.machine().state();
  core.machine().set_observer(this);
  const vm::Fiber& first = fiber({});
  function_ = first.frames.front().function;
  if (!sites_.is_always_call(function_)) return;
  Branch& root = branch({});
  const std::uint32_t call = add_call(root, sites_.tool_of_function(function_));
  const std::vector<types::TypeId>& types = image_.program().functions[function_].parameters;
  calls_[call].types = {&types, image_.program().functions[function_].result};
  for (std::size_t at = 0; at < types.size(); ++at) {
    std::string written = write(first.registers.data()[at], types[at]);
    calls_[call].arguments.push_back(std::move(written));
  }
  calls_[call].origin.arguments = origin_of({first.registers.data(), types.size()});
  root.open.push_back({call, root.depth});
}

void Collector::on_call(std::string_view key, std::uint32_t function, std::span<const vm::Value> arguments) {
  Branch& caller = branch(key);
  std::optional<std::uint32_t> call;
  if (!caller.awaited.empty()) {
    const auto& frames = fiber(key).frames;
    call = take_awaited(caller, frames[frames.size() - 2]);
  }
  if (!call && sites_.is_always_call(function)) call = add_call(caller, sites_.tool_of_function(function));
  ++caller.depth;
  if (!call) return;
  const std::vector<types::TypeId>& types = image_.program().functions[function].parameters;
  std::vector<std::string> written;
  for (std::size_t at = 0; at < arguments.size(); ++at) written.push_back(write(arguments[at], types[at]));
  calls_[*call].arguments = std::move(written);
  calls_[*call].origin.arguments = origin_of(arguments);
  calls_[*call].types = {&types, image_.program().functions[function].result};
  caller.open.push_back({*call, caller.depth});
}

void Collector::leave(Branch& branch, CallResult result) {
  if (!branch.open.empty() && branch.open.back().depth == branch.depth) {
    calls_[branch.open.back().call].result = std::move(result);
    branch.open.pop_back();
  }
  std::erase_if(branch.awaited, [&](const AwaitedCall& awaited) { return awaited.depth >= branch.depth; });
  --branch.depth;
}

void Collector::on_return(std::string_view key, std::uint32_t function, const vm::Value& value) {
  Branch& left = branch(key);
  const bool is_call = !left.open.empty() && left.open.back().depth == left.depth;
  if (is_call) calls_[left.open.back().call].origin.result = origin_of({&value, 1});
  leave(left, is_call ? write(value, image_.program().functions[function].result) : std::string());
}

void Collector::on_unwind(std::string_view key, std::uint32_t /*function*/, const vm::Value& failure) {
  const auto fields = failure.fields();
  leave(branch(key), Failed{static_cast<types::FailureKind>(fields[0].case_index()), std::string(fields[1].as_text()),
                            std::string(fields[3].as_text())});
}

void Collector::on_abandon(std::string_view key, std::uint32_t /*function*/) {
  leave(branch(key), Discarded{});
}

const CallRequest* Collector::find(const std::string& key) const {
  const auto found = requests_.find(key);
  return found == requests_.end() ? nullptr : &found->second;
}

std::optional<std::string> Collector::find_notification(const runtime::RunCore& core) const {
  const auto found = std::ranges::find_if(
      core.open(), [this](const auto& entry) { return requests_.at(entry.first).call == CallRequest::no_call; });
  return found == core.open().end() ? std::nullopt : std::optional(found->first);
}

void Collector::take_requests(runtime::RunCore& core) {
  std::vector<std::pair<vm::RequestId, const std::string*>> opened;
  for (const auto& [key, open] : core.open()) {
    if (!requests_.contains(key)) opened.emplace_back(open.request.id, &key);
  }
  std::sort(opened.begin(), opened.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [id, key] : opened) take_request(*key, *core.find(*key));
}

void Collector::add_prompt(std::uint32_t call, const runtime::OpenRequest& open) {
  add_context(open.request.context);
  calls_[call].prompts.push_back({open.described.kind, open.described.identity, open.described.context});
}

void Collector::take_request(const std::string& key, const runtime::OpenRequest& open) {
  Branch& caller = branch(branch_of(key));
  const bytecode::Program& program = image_.program();
  const vm::Request& request = open.request;
  const auto write_arguments = [&](const std::vector<types::TypeId>& types) {
    std::vector<std::string> written;
    for (std::size_t at = 0; at < request.arguments.size(); ++at)
      written.push_back(write(request.arguments[at], types[at]));
    return written;
  };
  std::uint32_t call = 0;
  switch (request.kind) {
    case vm::RequestKind::Extern: {
      const auto tool = sites_.tool_of_extern(request.subject);
      if (!tool) {
        call = CallRequest::no_call;
        const bool is_handoff = open.described.kind == EffectKind::HandedOff;
        if (is_handoff && !caller.open.empty()) calls_[caller.open.back().call].is_handoff = true;
        if (open.described.kind == EffectKind::AnswerRefused) {
          const CallRequest* const answered = find(runtime::refused_answer(request));
          const bool is_known = answered != nullptr && answered->call != CallRequest::no_call;
          if (is_known) calls_[answered->call].refusal = write(request.arguments[1], types::TypeTable::string);
        }
        if (open.described.kind == EffectKind::Emitted) {
          caller.said.push_back({caller.items.size(), write(request.arguments[0], types::TypeTable::string)});
        }
        break;
      }
      const auto awaited =
          caller.awaited.empty() ? std::nullopt : take_awaited(caller, fiber(caller.key).frames.back());
      call = awaited ? *awaited : add_call(caller, *tool);
      const bytecode::Extern& called = program.externs[request.subject];
      calls_[call].arguments = write_arguments(called.parameters);
      calls_[call].types = {&called.parameters, called.result};
      break;
    }
    case vm::RequestKind::Complete:
      if (const auto attempt = sites_.attempt_tool(request.subject)) {
        call = add_call(caller, *attempt);
        calls_[call].types = {nullptr, program.sites[request.subject].result};
        add_prompt(call, open);
        break;
      }
      ENSURE(!caller.open.empty() && caller.open.back().depth == caller.depth);
      call = caller.open.back().call;
      add_prompt(call, open);
      break;
    case vm::RequestKind::Fill: {
      call = add_call(caller, sites_.filled(request.subject).tool);
      const bytecode::CallShape& shape = program.sites[request.subject].call;
      std::vector<std::string> written;
      for (std::size_t at = 0; at < request.arguments.size(); ++at) {
        const bool is_hole = std::find(shape.holes.begin(), shape.holes.end(), at) != shape.holes.end();
        written.push_back(is_hole ? std::string() : write(request.arguments[at], shape.parameters[at]));
      }
      calls_[call].arguments = std::move(written);
      calls_[call].types = {&shape.parameters, std::nullopt};
      add_prompt(call, open);
      break;
    }
    case vm::RequestKind::Select:
      call = add_call(caller, sites_.select_tool());
      add_prompt(call, open);
      break;
  }
  if (call != CallRequest::no_call && labels_ == Labels::Kept && request.label != vm::LabelTable::program_text) {
    calls_[call].origin.arguments = state_->labels.describe(request.label);
  }
  requests_.emplace(key, CallRequest{call, open.described.kind});
}

void Collector::take_outcome(const runtime::RunCore& core, const std::string& key,
                             const effects::OutcomeForm& outcome) {
  const CallRequest& taken = requests_.at(key);
  if (taken.call == CallRequest::no_call) return;
  Call& call = calls_[taken.call];
  if (outcome.failure) {
    const effects::FailureText& text = *outcome.failure;
    call.result = Failed{text.kind, text.message, text.blame};
    return;
  }
  if (outcome.prompt) {
    call.result = *outcome.prompt;
    return;
  }
  if (taken.kind != EffectKind::Fill && taken.kind != EffectKind::Select) {
    // A completed function's result is what it returns.
    const bool is_of_function =
        taken.kind == EffectKind::Complete && !sites_.attempt_tool(core.open().at(key).request.subject);
    if (!is_of_function) {
      call.result = outcome.value;
      call.origin.result = origin_of_outcome(core.open().at(key).request);
    }
    return;
  }
  const vm::Request& request = core.open().at(key).request;
  const bytecode::CallShape* shape = &image_.program().sites[request.subject].call;
  ModelCall made;
  if (taken.kind == EffectKind::Fill) {
    made = sites_.filled(request.subject);
  } else {
    const std::optional<ModelCall> clause = sites_.options(request).at(outcome.clause);
    if (!clause) {
      call.result = std::string("null");  // `else`: nothing is called
      return;
    }
    made = *clause;
    call.tool = made.tool;
    call.alternative = made.alternative;
    if (!made.pc) {
      call.result = std::string("null");
      return;
    }
    shape = vm::options_of(request, image_.program())[outcome.clause].call;
    call.arguments.assign(shape->parameters.size(), std::string());
    call.types = {&shape->parameters, std::nullopt};
  }
  const Json answers = parse_own_json(outcome.value);
  for (std::size_t at = 0; at < shape->holes.size() && at < answers.items_or_none().size(); ++at) {
    // Read and written again, so that the text is the canonical one.
    const types::TypeId type = shape->parameters[shape->holes[at]];
    const types::TypeTable& types = image_.program().types;
    const auto value = effects::convert_value(answers.items()[at], type, types);
    call.arguments[shape->holes[at]] = value ? write(*value, type) : std::string(unwritable);
  }
  Branch& caller = branch(branch_of(key));
  const std::uint32_t depth = caller.depth + (made.function ? 1 : 0);
  std::erase_if(caller.awaited, [&](const AwaitedCall& other) {
    return other.depth > caller.depth || (other.depth == depth && other.pc == *made.pc);
  });
  caller.awaited.push_back({taken.call, depth, *made.pc, made.function});
}

void Collector::finish(const runtime::RunCore& core, RunState state) {
  std::vector<bool> is_alive(calls_.size(), false);
  if (state == RunState::Waits) {
    for (const auto& [id, fiber] : state_->fibers) {
      const auto found = branches_.find(fiber->key);
      if (found == branches_.end()) continue;
      for (const OpenCall& open : found->second->open) is_alive[open.call] = true;
      for (const AwaitedCall& awaited : found->second->awaited) is_alive[awaited.call] = true;
    }
    for (const auto& [key, open] : core.open()) {
      const CallRequest* const request = find(key);
      if (request != nullptr && request->call != CallRequest::no_call) is_alive[request->call] = true;
    }
  }
  for (std::size_t at = 0; at < calls_.size(); ++at) {
    if (std::holds_alternative<Pending>(calls_[at].result) && !is_alive[at]) calls_[at].result = Discarded{};
  }
}

void Collector::append_order(const Branch& branch, std::vector<std::uint32_t>& order) const {
  for (const Item& item : branch.items) {
    if (!item.block) {
      order.push_back(item.call);
      continue;
    }
    for (const auto& [number, inner] : branch.blocks.at(*item.block)) append_order(*inner, order);
  }
}

void Collector::append_said(const Branch& branch, std::vector<std::string>& said) const {
  auto text = branch.said.begin();
  for (std::size_t at = 0; at <= branch.items.size(); ++at) {
    for (; text != branch.said.end() && text->items == at; ++text) said.push_back(text->text);
    if (at == branch.items.size() || !branch.items[at].block) continue;
    for (const auto& [number, inner] : branch.blocks.at(*branch.items[at].block)) append_said(*inner, said);
  }
}

std::vector<std::string> Collector::said() const {
  std::vector<std::string> said;
  if (const auto root = branches_.find(""); root != branches_.end()) append_said(*root->second, said);
  return said;
}

std::vector<std::uint32_t> Collector::order() const {
  std::vector<std::uint32_t> order;
  order.reserve(calls_.size());
  if (const auto root = branches_.find(""); root != branches_.end()) append_order(*root->second, order);
  return order;
}

}  // namespace tenon::algebra
