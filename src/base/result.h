#pragma once

#include <tl/expected.hpp>
#include <utility>

namespace tenon {

/// A value, or what the world did instead. For mistakes in the user's program see `diagnostics::Diagnostic`; for our
/// own bugs see `ENSURE`.
template <class T, class E>
using Result = tl::expected<T, E>;

/// `return failure(MyError{…});` in a function that returns a Result.
template <class E>
[[nodiscard]] constexpr auto failure(E&& error) {
  return tl::make_unexpected(std::forward<E>(error));
}

}  // namespace tenon
