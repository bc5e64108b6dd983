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

/// Runs of a program, recorded in a new store; there is no waiting for the disk.
class Recording {
 public:
  /// `model`: the name under which a resume finds one that answers the same.
  Recording(std::shared_ptr<const runtime::ProgramImage> image, const std::string& store, std::string model);
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  /// A function with the number of steps that it is to make. With `recorded`, it is left where so many are recorded and
  /// the next one is under way.
  journal::RunName run(const std::string& function, std::uint64_t steps, std::uint64_t recorded = UINT64_MAX);
  /// A conversation with an agent.
  journal::RunName converse(const std::string& agent, std::uint64_t turns);

 private:
  class CountedModel;
  std::shared_ptr<const runtime::ProgramImage> image_;
  std::unique_ptr<journal::StoreConnection> store_;
  std::string model_name_;
  RealClock clock_;
};

}  // namespace tenon::bench
