#pragma once

#include <tenon/tenon.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "inference/model.h"

namespace tenon::library {

/// Calls `release`, which may be null, with what a host has given with a callback and is not needed any more.
void release_user(void* user, void (*release)(void* user)) noexcept;

/// What a host has given with a callback. `release` is called when the last copy is gone, or without memory at once.
std::shared_ptr<void> share_user(void* user, void (*release)(void* user));

/// A model that the host provides (`tenon_options_set_model`).
class HostModel final : public inference::Model {
 public:
  /// `owner`: of the functions (CallbackScope).
  HostModel(std::string name, const tenon_model& functions, std::shared_ptr<void> user, const void* owner);
  ~HostModel() override;
  HostModel(const HostModel&) = delete;
  HostModel& operator=(const HostModel&) = delete;

  [[nodiscard]] std::string_view name() const override { return name_; }
  void start(inference::GenerationId generation, inference::GenerationRequest request,
             inference::GenerationSink& sink) override;
  void cancel(inference::GenerationId generation) override;
  void poll(std::chrono::milliseconds wait) override;
  void wake() override;

  struct Reports;

 private:
  struct Pending {
    std::shared_ptr<tenon_generation> handle;
    inference::GenerationSink* sink = nullptr;
  };

  const std::string name_;
  const tenon_model functions_;
  const std::shared_ptr<void> user_;
  const void* const owner_;
  const std::shared_ptr<Reports> reports_;  ///< shared with generations that end after this has
  std::unordered_map<inference::GenerationId, Pending> pending_;
};

}  // namespace tenon::library
