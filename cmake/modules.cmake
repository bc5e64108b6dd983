# tenon_module(NAME LINK …): builds the folder src/NAME as the static library tenon_NAME, and its *_test.cpp files as the
# test program tests_NAME, which ctest runs.
enable_testing()
find_package(GTest REQUIRED)
set(TENON_TEST_BATCH 6)        # test files that are compiled as one; changing one recompiles its batch
add_custom_target(tests)       # the programs that ctest runs
add_custom_target(test_tools)  # programs that only the runners tests/*/run start
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  # The Python package leaves out what it does not use.
  set(TENON_MODULE_OPTIONS -ffunction-sections -fdata-sections)
endif()

function(tenon_module name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${name}/*.cpp)
  set(test_sources ${sources})
  list(FILTER test_sources INCLUDE REGEX "_test\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "(_test|_main)\\.cpp$")
  if(sources)
    add_library(tenon_${name} STATIC ${sources})
    target_compile_options(tenon_${name} PRIVATE ${TENON_MODULE_OPTIONS})
    target_include_directories(tenon_${name} PUBLIC ${CMAKE_SOURCE_DIR}/src)
    target_link_libraries(tenon_${name} PUBLIC ${ARG_LINK} PRIVATE tenon_options)
  else()
    add_library(tenon_${name} INTERFACE)
    target_include_directories(tenon_${name} INTERFACE ${CMAKE_SOURCE_DIR}/src)
    target_link_libraries(tenon_${name} INTERFACE ${ARG_LINK})
  endif()
  if(test_sources)
    add_executable(tests_${name} ${test_sources})
    # A test runs once, so compile time matters more than run time.
    target_compile_options(tests_${name} PRIVATE -O0)
    if(NOT CMAKE_UNITY_BUILD)
      set_target_properties(tests_${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${TENON_TEST_BATCH})
    endif()
    # Tests read what the product has written with another library for JSON than the product's own.
    target_link_libraries(tests_${name} PRIVATE tenon_${name} tenon_options tenon_test_folders
      nlohmann_json::nlohmann_json GTest::gtest GTest::gmock GTest::gtest_main)
    add_test(NAME ${name} COMMAND tests_${name})
    add_dependencies(tests tests_${name})
  endif()
endfunction()
