# cmake -D OUTPUT=FILE.cpp -D FILES=A;B -P embed_stdlib.cmake: writes the modules as one table of C++ strings.
list(LENGTH FILES count)
string(CONCAT entries "#include \"types/standard_library.h\"\n\n#include <array>\n\nnamespace tenon::types {\nnamespace {\n\n"
  "struct Module {\n  std::string_view path, text;\n};\n\nconstexpr std::array<Module, ${count}> modules = {{\n")
foreach(file IN LISTS FILES)
  cmake_path(GET file FILENAME name)
  file(READ ${file} text)
  string(APPEND entries "    {\"std/${name}\", R\"tenon(${text})tenon\"},\n")
endforeach()
string(APPEND entries "}};\n\n}  // namespace\n\n"
  "std::optional<std::string_view> find_standard_module(std::string_view path) {\n"
  "  for (const Module& module : modules) {\n    if (module.path == path) return module.text;\n  }\n"
  "  return std::nullopt;\n}\n\n"
  "std::vector<std::string_view> standard_module_paths() {\n  std::vector<std::string_view> paths;\n"
  "  for (const Module& module : modules) paths.push_back(module.path);\n  return paths;\n}\n\n"
  "}  // namespace tenon::types\n")
file(WRITE ${OUTPUT} "${entries}")
