# Options of every target of the project. Third-party code is built without them.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

set(TENON_SANITIZE "" CACHE STRING "Sanitizers to build with: address,undefined or thread")
option(TENON_PYTHON "Build the extension module of the Python package" OFF)
option(TENON_FUZZ "Build fuzz/ with clang's libFuzzer" OFF)
set(TENON_BINARY_LINK "" CACHE FILEPATH "A symbolic link to the built command line, made when not empty")

add_library(tenon_options INTERFACE)
target_compile_options(tenon_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wswitch -Wnon-virtual-dtor
  -Wold-style-cast -Wimplicit-fallthrough)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(tenon_options INTERFACE -Wno-restrict)  # false on `"text" + string` (GCC bug 105651)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(tenon_options INTERFACE -Werror)  # clang's warnings differ
endif()
if(TENON_FUZZ)
  target_compile_options(tenon_options INTERFACE -fsanitize=fuzzer-no-link)
endif()
# In unity builds (docs/decisions/0022-unity-builds.md), the anonymous namespace of one file is visible in the next, so these
# warnings would be false.
target_compile_options(tenon_options INTERFACE
  "$<$<AND:$<CXX_COMPILER_ID:GNU>,$<BOOL:$<TARGET_PROPERTY:TENON_IS_UNITY>>>:-Wno-shadow;-Wshadow=local;-Wno-subobject-linkage>")
if(TENON_SANITIZE)
  # With instrumentation, GCC reports uninitialized members of variants that are never read (GCC bug 105562).
  target_compile_options(tenon_options INTERFACE -fsanitize=${TENON_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize-recover=all "$<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>")
  target_link_options(tenon_options INTERFACE -fsanitize=${TENON_SANITIZE})
  target_compile_definitions(tenon_options INTERFACE TENON_SANITIZED)
endif()
if(TENON_SANITIZE MATCHES thread)
  # ThreadSanitizer does not support fences. Asio also uses mutexes, so its fences are not needed.
  target_compile_definitions(tenon_options INTERFACE BOOST_ASIO_DISABLE_FENCED_BLOCK)
endif()
# The cache serves every checkout: it sees paths relative to the build folder, and no folder is part of what it looks up.
find_program(TENON_CCACHE ccache)
if(TENON_CCACHE)
  set(TENON_CACHED ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${TENON_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${TENON_CACHED})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${TENON_CACHED})
endif()
find_program(TENON_MOLD mold)
if(TENON_MOLD)
  add_link_options(-fuse-ld=mold)
endif()
