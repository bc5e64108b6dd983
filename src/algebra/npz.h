#pragma once

#include <string>

#include "algebra/artifacts.h"
#include "base/result.h"

namespace tenon::algebra {

/// The artifacts as a NumPy archive (`numpy.load`, no pickle): a zip file whose members are stored .npy arrays, version
/// 1.0, little-endian. Calls count from 1, so that 0 is padding. The same artifacts give the same bytes.
///   m int64[k], mu int64[], J int64[calls], S uint8[calls,n], Sigma uint8[k,mu,n], sigma int64[k,mu],
///   theta int64[k,mu] and rho int64[k,mu]: the number of the call, R int64[calls,n]: likewise,
///   tools, q and r: their JSON, as UTF-8 uint8[bytes], and tools_ends, q_ends, r_ends int64[items]: where each ends.
/// Fails if an array would be larger than `array_bytes_max`.
[[nodiscard]] Result<std::string, AlgebraError> write_npz(const Artifacts& artifacts);

/// Maximum size of an array and of the archive: a larger zip file needs another format.
inline constexpr std::size_t array_bytes_max = std::size_t{2} << 30U;

}  // namespace tenon::algebra
