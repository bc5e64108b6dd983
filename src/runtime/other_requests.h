#pragma once

namespace tenon::runtime {

/// Requests for a runtime's runs that come from elsewhere, and are performed between its steps. Used by the runtime's
/// thread.
class OtherRequests {
 public:
  virtual ~OtherRequests() = default;
  /// Performs what has come, and replies to what has become durable.
  virtual void poll() = 0;
  /// Whether `poll` has something to do now.
  [[nodiscard]] virtual bool has_work() const = 0;
};

}  // namespace tenon::runtime
