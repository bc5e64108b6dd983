# llama.cpp and llguidance, pinned by rust/Cargo.lock. Both are built once per machine and compiler, as optimized static
# libraries, into a folder that every preset and every checkout shares; a sanitizer build links the same uninstrumented
# archives. Nothing here is compiled with the project's warning flags.
if(NOT TENON_DEPENDENCIES_DIR)
  if(DEFINED ENV{XDG_CACHE_HOME} AND NOT "$ENV{XDG_CACHE_HOME}" STREQUAL "")
    set(cache_home "$ENV{XDG_CACHE_HOME}")
  else()
    set(cache_home "$ENV{HOME}/.cache")
  endif()
  set(TENON_DEPENDENCIES_DIR "${cache_home}/tenon/dependencies")
endif()
set(TENON_DEPENDENCIES_DIR "${TENON_DEPENDENCIES_DIR}" CACHE PATH "Where llama.cpp and llguidance are built and kept")

set(LLAMA_CRATE llama-cpp-sys-2-0.1.161)
set(LLGUIDANCE_CRATE llguidance-1.9.1)
set(RUST_DIR ${CMAKE_SOURCE_DIR}/rust)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${RUST_DIR}/Cargo.lock ${RUST_DIR}/Cargo.toml)

include(${CMAKE_CURRENT_LIST_DIR}/native_step.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/rust.cmake)

# The archives do not depend on the project's own compiler, so that the fuzz build with clang shares them too.
find_program(NATIVE_CXX NAMES g++ c++ REQUIRED)
find_program(NATIVE_CC NAMES gcc cc REQUIRED)
execute_process(COMMAND ${NATIVE_CXX} -dumpfullversion -dumpmachine OUTPUT_VARIABLE native_compiler
  COMMAND_ERROR_IS_FATAL ANY)
set(native_inputs "${native_compiler}")
set(LLAMA_OPTIONS ${CMAKE_CURRENT_LIST_DIR}/llama_options.cmake)
foreach(input IN ITEMS ${RUST_DIR}/Cargo.toml ${RUST_DIR}/Cargo.lock ${RUST_DIR}/src/lib.rs ${LLAMA_OPTIONS} ${CMAKE_CURRENT_LIST_FILE})
  file(SHA256 ${input} digest)
  string(APPEND native_inputs "${digest}")
endforeach()
string(SHA256 native_key "${native_inputs}")
string(SUBSTRING "${native_key}" 0 16 native_key)
set(NATIVE_DIR ${TENON_DEPENDENCIES_DIR}/${native_key})

function(build_native_dependencies)
  find_rust()
  cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
  set(work ${NATIVE_DIR}/work)
  file(REMOVE_RECURSE ${work})
  file(MAKE_DIRECTORY ${work})
  message(STATUS "llama.cpp and llguidance are built once, into ${NATIVE_DIR}; this takes a few minutes")

  native_step("Fetching the crates that Cargo.lock names"
    ${CARGO} vendor --locked --versioned-dirs --manifest-path ${RUST_DIR}/Cargo.toml ${work}/vendor)
  file(WRITE ${work}/vendor.toml "[source.crates-io]\nreplace-with = \"vendored-sources\"\n\
[source.vendored-sources]\ndirectory = \"${work}/vendor\"\n")

  set(launcher)
  if(TENON_CCACHE)
    set(launcher -DCMAKE_C_COMPILER_LAUNCHER=${TENON_CCACHE} -DCMAKE_CXX_COMPILER_LAUNCHER=${TENON_CCACHE})
  endif()
  native_step("Configuring llama.cpp"
    ${CMAKE_COMMAND} -G Ninja -S ${work}/vendor/${LLAMA_CRATE}/llama.cpp -B ${work}/llama
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=${NATIVE_DIR} -DCMAKE_INSTALL_LIBDIR=lib
    -DCMAKE_C_COMPILER=${NATIVE_CC} -DCMAKE_CXX_COMPILER=${NATIVE_CXX} -DCMAKE_POSITION_INDEPENDENT_CODE=ON ${launcher}
    -DBUILD_SHARED_LIBS=OFF -DLLAMA_BUILD_COMMON=OFF -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_TOOLS=OFF
    -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_SERVER=OFF -DLLAMA_BUILD_APP=OFF -DLLAMA_OPENSSL=OFF
    -DLLAMA_BUILD_NUMBER=0 -DLLAMA_BUILD_COMMIT=${LLAMA_CRATE} -DCMAKE_PROJECT_llama.cpp_INCLUDE=${LLAMA_OPTIONS}
    -DGGML_NATIVE=OFF -DGGML_OPENMP=OFF -DGGML_CCACHE=OFF)
  # Most of the time, cargo uses one processor.
  native_step("Building llama.cpp and llguidance" ${CMAKE_COMMAND} --build ${work}/llama --parallel ${cores}
    BESIDE ${CARGO} build --release --locked --offline --config ${work}/vendor.toml --manifest-path ${RUST_DIR}/Cargo.toml
    --target-dir ${work}/cargo)
  native_step("Installing llama.cpp" ${CMAKE_COMMAND} --install ${work}/llama)
  file(COPY ${work}/cargo/release/libtenon_llguidance.a DESTINATION ${NATIVE_DIR}/lib)
  file(COPY ${work}/vendor/${LLGUIDANCE_CRATE}/llguidance.h DESTINATION ${NATIVE_DIR}/include)
  file(COPY ${work}/vendor/${LLGUIDANCE_CRATE}/LICENSE DESTINATION ${NATIVE_DIR}/licenses/llguidance)
  file(COPY ${work}/vendor/${LLAMA_CRATE}/llama.cpp/LICENSE DESTINATION ${NATIVE_DIR}/licenses/llama.cpp)
  file(REMOVE_RECURSE ${work})
  file(WRITE ${NATIVE_DIR}/complete "${LLAMA_CRATE} ${LLGUIDANCE_CRATE}\n")
endfunction()

file(MAKE_DIRECTORY ${NATIVE_DIR})
if(NOT EXISTS ${NATIVE_DIR}/complete)
  file(LOCK ${NATIVE_DIR}/lock GUARD FILE)  # of several configure runs at once, the first builds and the others wait
  if(NOT EXISTS ${NATIVE_DIR}/complete)
    build_native_dependencies()
  endif()
  file(LOCK ${NATIVE_DIR}/lock RELEASE)
endif()

# Imported by hand: a package file found through CMAKE_PREFIX_PATH could be another installation's.
add_library(llama STATIC IMPORTED)
set_target_properties(llama PROPERTIES
  IMPORTED_LOCATION ${NATIVE_DIR}/lib/libllama.a
  INTERFACE_INCLUDE_DIRECTORIES ${NATIVE_DIR}/include
  INTERFACE_LINK_LIBRARIES
    "${NATIVE_DIR}/lib/libggml.a;${NATIVE_DIR}/lib/libggml-cpu.a;${NATIVE_DIR}/lib/libggml-base.a;Threads::Threads;${CMAKE_DL_LIBS};m")
add_library(llguidance STATIC IMPORTED)
set_target_properties(llguidance PROPERTIES
  IMPORTED_LOCATION ${NATIVE_DIR}/lib/libtenon_llguidance.a
  INTERFACE_INCLUDE_DIRECTORIES ${NATIVE_DIR}/include
  INTERFACE_LINK_LIBRARIES "Threads::Threads;${CMAKE_DL_LIBS};m")
