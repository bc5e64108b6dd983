#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string_view>

#include "effects/record.h"
#include "journal/store.h"
#include "runtime/effects/in_progress.h"
#include "runtime/host/text_pieces.h"

namespace tenon::runtime {

/// Receives what has become durable, on the host's thread. Views are valid during the call.
class HostObserver {
 public:
  virtual ~HostObserver() = default;
  virtual void on_recorded(const journal::RunName& run, std::string_view agent, std::uint64_t first,
                           std::span<const effects::Record> records) = 0;
  virtual void on_text(const journal::RunName& run, const TextProgress& text) = 0;
  /// The store has records that `on_recorded` was not called for.
  virtual void on_changed(const journal::RunName& run) = 0;
  /// A problem that is not the answer to a request, for people.
  virtual void on_problem(std::string_view message) = 0;
  /// That a problem is over, for people.
  virtual void on_solved(std::string_view /*message*/) {}
  /// The store is broken: no run continues until it is opened again. Or the host is, by a bug in Tenon.
  virtual void on_broken(std::string_view message) = 0;
  /// The host ends, and waits `grace` at most for these effects.
  virtual void on_waiting(const EffectsInProgress& /*effects*/, std::chrono::milliseconds /*grace*/) {}
};

}  // namespace tenon::runtime
