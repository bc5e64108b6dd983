#include "runtime/recording/open_blocks.h"

#include <algorithm>

#include "effects/effect.h"

namespace tenon::runtime {
namespace {

/// The fields of an open block in a run's snapshot; they are on disks.
enum : std::uint32_t {
  block_branch = 1,
  block_depth = 2,
  block_path = 3,
  block_entered_at = 4,
  block_tokens = 5,
  block_key = 6
};

bool is_within(std::string_view branch, std::string_view outer) {
  if (outer.empty() || branch == outer) return true;
  return branch.size() > outer.size() && branch.starts_with(outer) && branch[outer.size()] == '.';
}

}  // namespace

void OpenBlocks::Left::add_to(effects::Requested& requested) && {
  if (requested.kind == effects::EffectKind::BlockLeft) requested.used = used;
  if (requested.kind == effects::EffectKind::AgentReturned) requested.call = std::move(key);
}

void OpenBlocks::drop_inner(std::string_view branch, std::uint32_t depth) {
  std::erase_if(open_, [&](const Open& open) {
    if (open.branch == branch) return open.depth > depth;
    return is_within(open.branch, branch);
  });
}

std::vector<OpenBlocks::Open>::iterator OpenBlocks::find(std::string_view branch, std::uint32_t depth,
                                                         std::string_view path) {
  return std::find_if(open_.begin(), open_.end(), [&](const Open& open) {
    return open.depth == depth && open.branch == branch && open.path == path;
  });
}

void OpenBlocks::enter(std::string_view key, std::uint32_t depth, std::string_view path, std::int64_t time) {
  const std::string_view branch = effects::branch_of(key);
  drop_inner(branch, depth);
  // A block that a failure has ended is entered again.
  if (const auto before = find(branch, depth, path); before != open_.end()) open_.erase(before);
  if (open_.size() == open_blocks_max) open_.erase(open_.begin());
  open_.push_back({std::string(branch), std::string(key), depth, std::string(path), time, 0});
}

std::optional<OpenBlocks::Left> OpenBlocks::leave(std::string_view key, std::uint32_t depth, std::string_view path,
                                                  std::int64_t time) {
  const std::string_view branch = effects::branch_of(key);
  drop_inner(branch, depth);
  const auto open = find(branch, depth, path);
  if (open == open_.end()) return std::nullopt;
  Left left{std::move(open->key),
            {static_cast<std::uint64_t>(std::max<std::int64_t>(time - open->entered_at, 0)), open->tokens}};
  open_.erase(open);
  return left;
}

void OpenBlocks::add_tokens(std::string_view key, std::uint64_t tokens) {
  if (tokens == 0) return;
  for (Open& open : open_) {
    if (is_within(effects::branch_of(key), open.branch)) open.tokens += tokens;
  }
}

void OpenBlocks::write(wire::Writer& out, std::uint32_t field) const {
  for (const Open& open : open_) {
    wire::Writer message;
    message.field(block_branch, open.branch);
    message.field(block_depth, std::uint64_t{open.depth});
    message.field(block_path, open.path);
    message.field(block_entered_at, static_cast<std::uint64_t>(open.entered_at));
    message.field(block_tokens, open.tokens);
    message.field(block_key, open.key);
    out.present_field(field, message);
  }
}

bool OpenBlocks::read(std::string_view bytes) {
  if (open_.size() == open_blocks_max) return false;
  wire::Reader in(bytes);
  Open open;
  while (in.next_field()) {
    switch (in.number()) {
      case block_branch:
        open.branch = in.bytes_value();
        break;
      case block_depth:
        open.depth = in.value32();
        break;
      case block_path:
        open.path = in.bytes_value();
        break;
      case block_entered_at:
        open.entered_at = static_cast<std::int64_t>(in.value());
        break;
      case block_tokens:
        open.tokens = in.value();
        break;
      case block_key:
        open.key = in.bytes_value();
        break;
      default:
        in.reject();
    }
  }
  if (!in.is_good()) return false;
  open_.push_back(std::move(open));
  return true;
}

}  // namespace tenon::runtime
