# The extension module of the Python package in python/, which pip builds with TENON_PYTHON (python/pyproject.toml). Everything of
# Tenon is in it, and it exports nothing but its entry point. From CPython 3.12 on, one module serves all later versions.
set(version 3.10)
if(SKBUILD_SABI_VERSION)
  set(version 3.12)
endif()
find_package(Python ${version} REQUIRED COMPONENTS Interpreter Development.Module)
if(SKBUILD_SABI_VERSION AND NOT TARGET Python::SABIModule)
  # CMake knows it from 3.26 on. On Linux nanobind only asks whether it exists.
  add_library(Python::SABIModule INTERFACE IMPORTED)
endif()
# pip has nanobind in a temporary folder. The compiler cache knows what is within the project, so the build uses a copy there.
find_file(nanobind_config nanobind-config.cmake PATHS ${CMAKE_PREFIX_PATH} PATH_SUFFIXES nanobind/cmake NO_CACHE)
if(nanobind_config)
  cmake_path(GET nanobind_config PARENT_PATH nanobind_folder)
  cmake_path(GET nanobind_folder PARENT_PATH nanobind_folder)
  file(COPY ${nanobind_folder} DESTINATION ${CMAKE_BINARY_DIR} PATTERN __pycache__ EXCLUDE)
  set(nanobind_DIR ${CMAKE_BINARY_DIR}/nanobind/cmake CACHE PATH "The package of nanobind" FORCE)
endif()
find_package(nanobind CONFIG REQUIRED)
nanobind_add_module(tenon_python STABLE_ABI NB_STATIC NOMINSIZE
  python/core/module.cpp python/core/call_queue.cpp python/core/contexts.cpp python/core/dispatcher.cpp
  python/core/engine.cpp python/core/errors.cpp python/core/externs.cpp python/core/gil.cpp python/core/host.cpp
  python/core/model.cpp python/core/options.cpp python/core/replies.cpp
  python/core/selector.cpp python/core/signal_watch.cpp python/core/types.cpp
  python/core/waiting.cpp
  $<TARGET_OBJECTS:tenon_library>)
set_target_properties(tenon_python PROPERTIES OUTPUT_NAME _core TENON_IS_SHARED ON UNITY_BUILD_BATCH_SIZE 16
  LINK_DEPENDS ${CMAKE_SOURCE_DIR}/cmake/python.map)
foreach(part nanobind-static-abi3 nanobind-static)
  if(TARGET ${part})
    set_target_properties(${part} PROPERTIES UNITY_BUILD OFF)
    # Warnings in its headers are not ours.
    get_target_property(headers ${part} INTERFACE_INCLUDE_DIRECTORIES)
    set_target_properties(${part} PROPERTIES INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${headers}")
  endif()
endforeach()
target_include_directories(tenon_python PRIVATE include python)
target_include_directories(tenon_python SYSTEM PRIVATE ${Python_INCLUDE_DIRS})
target_link_libraries(tenon_python PRIVATE tenon_algebra tenon_server tenon_options)
# A wheel is to be small, and a server that streams to many is the command line's. What of the wheel is not used is left out.
target_compile_options(tenon_server PRIVATE -Os)
target_link_options(tenon_python PRIVATE -Wl,--gc-sections -Wl,--version-script=${CMAKE_SOURCE_DIR}/cmake/python.map)
install(TARGETS tenon_python LIBRARY DESTINATION tenon COMPONENT python)
# The module has many addresses of its own data, which are relocated when it is imported. As bitmaps they take a hundredth of the space.
# They need glibc 2.36, as the module does anyway, and a linker that says so: mold does not.
include(CheckLinkerFlag)
set(packed_relocations -fuse-ld=bfd -Wl,-z,pack-relative-relocs)
check_linker_flag(CXX "${packed_relocations}" TENON_HAS_PACKED_RELOCATIONS)
if(TENON_HAS_PACKED_RELOCATIONS)
  target_link_options(tenon_python PRIVATE ${packed_relocations})
endif()
