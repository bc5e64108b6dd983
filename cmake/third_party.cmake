# Libraries from the distribution. They are linked statically where it has archives, because looking up their symbols at
# start would take longer than the rest of a short command.
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(Threads REQUIRED)
find_package(CURL REQUIRED)
find_package(CLI11 REQUIRED)
find_package(Boost 1.81 REQUIRED)  # the headers of Asio, Beast and URL
find_package(PkgConfig REQUIRED)
pkg_check_modules(FFI REQUIRED IMPORTED_TARGET libffi)
pkg_check_modules(TOMLPLUSPLUS REQUIRED IMPORTED_TARGET tomlplusplus)
pkg_check_modules(RE2 REQUIRED IMPORTED_TARGET re2)
pkg_check_modules(PQ REQUIRED libpq)  # only the headers: src/journal/postgres/pq_library.h loads the library
# Only for the renderer of reports.
pkg_check_modules(PANGOCAIRO REQUIRED IMPORTED_TARGET pangocairo)
pkg_check_modules(CMARK REQUIRED IMPORTED_TARGET libcmark-gfm)

# prefer_archive(TARGET NAME…): links the first of these archives that exists instead of the shared library.
function(prefer_archive target)
  find_library(${target}_ARCHIVE NAMES ${ARGN})
  if(${target}_ARCHIVE)
    set_target_properties(PkgConfig::${target} PROPERTIES INTERFACE_LINK_LIBRARIES "${${target}_ARCHIVE};Threads::Threads")
  endif()
endfunction()
prefer_archive(FFI libffi_pic.a libffi.a)
# Debian's archive of RE2 is not position independent: a shared library (TENON_IS_SHARED) links the shared one.
get_target_property(RE2_SHARED PkgConfig::RE2 INTERFACE_LINK_LIBRARIES)
prefer_archive(RE2 libre2.a)
if(RE2_ARCHIVE)
  set(is_shared $<BOOL:$<TARGET_PROPERTY:TENON_IS_SHARED>>)
  set_target_properties(PkgConfig::RE2 PROPERTIES INTERFACE_LINK_LIBRARIES
    "$<IF:${is_shared},${RE2_SHARED},${RE2_ARCHIVE}>;Threads::Threads")
endif()
# One source file uses it, header-only.
set_target_properties(PkgConfig::TOMLPLUSPLUS PROPERTIES INTERFACE_LINK_LIBRARIES "" INTERFACE_COMPILE_OPTIONS "")
# src/base/fmt_library.cpp compiles the contents of the shared library.
add_library(fmt_headers INTERFACE)
target_include_directories(fmt_headers SYSTEM INTERFACE $<TARGET_PROPERTY:fmt::fmt,INTERFACE_INCLUDE_DIRECTORIES>)
target_compile_definitions(fmt_headers INTERFACE $<TARGET_PROPERTY:fmt::fmt,INTERFACE_COMPILE_DEFINITIONS>)

add_library(tl_expected INTERFACE)  # header-only, in the system's include path

set(OPENSSL_USE_STATIC_LIBS TRUE)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
include(cmake/native.cmake)
include(cmake/sqlite.cmake)
