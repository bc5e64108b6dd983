#pragma once

#include <tl/expected.hpp>
#include <utility>

namespace tenon {

/// A value, or an error of the world. For errors in the user's program see `diagnostics::Diagnostic`; for bugs in Tenon
/// see `ENSURE`.
template <class T, class E>
using Result = tl::expected<T, E>;

/// `return failure(MyError{…});` in a function that returns a Result.
template <class E>
[[nodiscard]] constexpr auto failure(E&& error) {
  return tl::make_unexpected(std::forward<E>(error));
}

}  // namespace tenon
