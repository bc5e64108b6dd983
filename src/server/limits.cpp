#include "server/limits.h"

#include <array>
#include <utility>

namespace tenon::server {
namespace {

constexpr std::array<std::pair<std::string_view, std::size_t Limits::*>, 12> names = {{
    {"body_bytes", &Limits::body_bytes},
    {"header_bytes", &Limits::header_bytes},
    {"connections", &Limits::connections},
    {"queue_bytes", &Limits::queue_bytes},
    {"chunk_bytes", &Limits::chunk_bytes},
    {"write_seconds", &Limits::write_seconds},
    {"idle_seconds", &Limits::idle_seconds},
    {"drain_seconds", &Limits::drain_seconds},
    {"listed", &Limits::listed},
    {"answer_bytes", &Limits::answer_bytes},
    {"memory_mb", &Limits::memory_mb},
    {"idle_runs", &Limits::idle_runs},
}};

}  // namespace

std::size_t* find_limit(Limits& limits, std::string_view name) {
  for (const auto& [known, member] : names) {
    if (known == name) return &(limits.*member);
  }
  return nullptr;
}

std::string limit_names() {
  std::string text;
  for (const auto& [known, member] : names) {
    if (!text.empty()) text += ", ";
    text += known;
  }
  return text;
}

}  // namespace tenon::server
