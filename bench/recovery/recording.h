#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/clock.h"
#include "inference/model.h"
#include "journal/open_store.h"
#include "runtime/runtime.h"

namespace tenon::bench {

[[nodiscard]] std::shared_ptr<const runtime::ProgramImage> load(const std::string& path);

/// Records runs of a program in a new store, without waiting for the disk.
class Recording {
 public:
  /// `model`: the name of a model with the same answers, which a resumed run uses.
  Recording(std::shared_ptr<const runtime::ProgramImage> image, const std::string& store, std::string model);
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  /// Runs a function for the given number of steps. With `recorded`, stops when that many are recorded and the next one
  /// is in progress.
  journal::RunName run(const std::string& function, std::uint64_t steps, std::uint64_t recorded = UINT64_MAX);
  /// Holds a conversation with an agent.
  journal::RunName converse(const std::string& agent, std::uint64_t turns);

 private:
  class CountedModel;
  std::shared_ptr<const runtime::ProgramImage> image_;
  std::unique_ptr<journal::StoreConnection> store_;
  std::string model_name_;
  RealClock clock_;
};

}  // namespace tenon::bench
