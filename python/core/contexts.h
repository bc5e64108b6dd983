#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <memory>
#include <unordered_map>

namespace tenon::python {

namespace nb = nanobind;

/// A run of this process as a key, None for a run whose number is not known: those of a host, which other processes may
/// continue.
[[nodiscard]] nb::object key_of_run(const void* engine, std::uint64_t number);

/// The context variables (`contextvars`) of runs: those of where a run was started, prompted or answered last, or else
/// of where the engine was made. Its externs that are called elsewhere get them. Everything here with the interpreter's
/// lock.
class Contexts {
 public:
  /// `is_used`: otherwise nothing is kept.
  explicit Contexts(bool is_used);
  Contexts(const Contexts&) = delete;
  Contexts& operator=(const Contexts&) = delete;

  /// A `contextvars.Context`; None: contexts are not used.
  [[nodiscard]] nb::object find(std::uint64_t run) const;

 private:
  friend class KeptContext;
  nb::object copy_;                  ///< `contextvars.copy_context`; none: nothing is kept
  nb::object engines_ = nb::none();  ///< of where the engine was made
  using ByRun = std::unordered_map<std::uint64_t, nb::object>;
  ByRun contexts_;          ///< by tenon_run_number
  ByRun::node_type spare_;  ///< of the newest that was forgotten, for the next one
};

/// Keeps the present context for a run while this exists, if contexts are used.
class KeptContext {
 public:
  KeptContext(std::shared_ptr<Contexts> contexts, std::uint64_t run);
  ~KeptContext();
  KeptContext(KeptContext&& other) noexcept;
  /// From now on the present one.
  void renew() const;
  /// Of the run (key_of_run).
  [[nodiscard]] nb::object key() const { return key_of_run(engine_, run_); }

 private:
  const void* engine_;
  std::shared_ptr<Contexts> contexts_;
  std::uint64_t run_ = 0;
};

}  // namespace tenon::python
