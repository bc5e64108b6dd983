#pragma once

namespace tenon::tools {

/// A call of a provided function that is made outside of the engine (`perform_outside`): by the thread that has run the
/// program, but after its step, so that other threads use the engine meanwhile.
class OutsideCall {
 public:
  OutsideCall() = default;
  virtual ~OutsideCall() = default;
  OutsideCall(const OutsideCall&) = delete;
  OutsideCall& operator=(const OutsideCall&) = delete;

  /// Calls the function, once. Nothing of the engine is used: neither what it owns, nor a lock of its caller.
  virtual void make() noexcept = 0;
  /// After `make`, while another thread uses the engine: the next `poll` of the caller reports the call, and one that
  /// waits ends. Nothing happens if the caller does not exist any more. Any thread.
  virtual void finish() = 0;
};

}  // namespace tenon::tools
