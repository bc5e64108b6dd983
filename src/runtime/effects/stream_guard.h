#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "inference/model.h"
#include "vm/request.h"

namespace tenon::runtime {

class ProgramImage;

/// Checks a model's answer against the function's contract while it is being written, for violations that a longer
/// answer cannot repair (bytecode::Site::guard).
class StreamGuard {
 public:
  /// `request` is of a site with a guard; `image` outlives this.
  StreamGuard(const ProgramImage& image, const vm::Request& request);

  /// The next piece. A piece of a higher attempt at sending voids those before. True from the first violation on.
  [[nodiscard]] bool add(std::uint32_t attempt, std::string_view piece);
  /// The text so far as an answer that ends here: of a list its complete items.
  [[nodiscard]] std::string answer() const;
  /// All of it.
  [[nodiscard]] std::string_view said() const { return text_; }
  void restart();

 private:
  [[nodiscard]] bool holds() const;

  const ProgramImage& image_;
  std::uint32_t site_;
  std::vector<vm::Value> arguments_;
  bool is_list_ = false;
  std::uint32_t attempt_ = 0;
  std::string text_;
  std::size_t checked_ = 0;  ///< bytes of `text_` at the last check
  bool is_broken_ = false;
};

/// The usage of an answer for which the backend reports none, or that was ended before it did: a token for four bytes.
[[nodiscard]] inference::Usage estimate_usage(const inference::GenerationRequest& request, std::string_view said,
                                              inference::Usage reported);

/// `{"value": [1, 2, 3` as far as its items are whole, closed: `{"value": [1, 2]}`. Empty before the first item's end.
[[nodiscard]] std::string close_list(std::string_view json);

}  // namespace tenon::runtime
