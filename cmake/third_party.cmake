# Libraries that the distribution packages.
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(Threads REQUIRED)
find_package(CURL REQUIRED)
find_package(CLI11 REQUIRED)
find_package(Boost 1.81 REQUIRED)  # the headers of Asio and Beast
find_package(PkgConfig REQUIRED)
pkg_check_modules(FFI REQUIRED IMPORTED_TARGET libffi)
pkg_check_modules(TOMLPLUSPLUS REQUIRED IMPORTED_TARGET tomlplusplus)
pkg_check_modules(RE2 REQUIRED IMPORTED_TARGET re2)

add_library(tl_expected INTERFACE)  # header-only, in the system's include path

find_package(OpenSSL REQUIRED COMPONENTS Crypto)
include(cmake/native.cmake)
include(cmake/sqlite.cmake)
