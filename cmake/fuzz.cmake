# Each fuzz/NAME_fuzz.cpp defines LLVMFuzzerTestOneInput. In the preset `fuzz` it becomes the libFuzzer program fuzz_NAME;
# in every other build it becomes replay_NAME, a test that runs it on the corpus and the saved findings.
file(GLOB fuzz_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/fuzz/*_fuzz.cpp)
add_custom_target(fuzzers)
if(NOT TENON_FUZZ)
  add_library(replay_main STATIC EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/fuzz/replay_main.cpp)
  target_link_libraries(replay_main PRIVATE tenon_options)
endif()
foreach(source IN LISTS fuzz_sources)
  cmake_path(GET source STEM stem)
  string(REGEX REPLACE "_fuzz$" "" name ${stem})
  if(TENON_FUZZ)
    add_executable(fuzz_${name} EXCLUDE_FROM_ALL ${source})
    target_link_libraries(fuzz_${name} PRIVATE tenon_server tenon_compiler tenon_journal tenon_syntax_test_support
      tenon_assembler tenon_json_schema tenon_options nlohmann_json::nlohmann_json)
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
    add_dependencies(fuzzers fuzz_${name})
  else()
    add_executable(replay_${name} EXCLUDE_FROM_ALL ${source})
    target_link_libraries(replay_${name} PRIVATE replay_main tenon_server tenon_compiler tenon_journal tenon_syntax_test_support
      tenon_assembler tenon_json_schema tenon_options nlohmann_json::nlohmann_json)
    target_compile_options(replay_${name} PRIVATE -O0)
    add_dependencies(tests replay_${name})
    add_test(NAME replay_${name}
      COMMAND replay_${name} ${CMAKE_SOURCE_DIR}/fuzz/corpus/${name} ${CMAKE_SOURCE_DIR}/fuzz/regressions/${name})
  endif()
endforeach()
