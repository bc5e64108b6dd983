# cmake -D OUTPUT=FILE.cpp -D FILES=A;B -P embed_stdlib.cmake: writes the files as a table of C++ strings.
string(CONCAT source "#include \"types/standard_library.h\"\n\n#include <array>\n\n"
  "namespace tenon::types {\nnamespace {\n\n")
list(SORT FILES)
list(LENGTH FILES count)
string(APPEND names "constexpr std::array<std::string_view, ${count}> names = {{\n")
string(APPEND texts "constexpr std::array<std::string_view, ${count}> texts = {{\n")
foreach(file IN LISTS FILES)
  cmake_path(GET file STEM name)
  file(READ ${file} text)
  string(APPEND names "    \"${name}\",\n")
  string(APPEND texts "    R\"tenon(${text})tenon\",\n")
endforeach()
string(APPEND names "}};\n\n")
string(APPEND texts "}};\n\n}  // namespace\n\n"
  "std::optional<std::string_view> find_standard_module(std::string_view name) {\n"
  "  for (std::size_t at = 0; at < names.size(); ++at) {\n"
  "    if (names[at] == name) return texts[at];\n  }\n  return std::nullopt;\n}\n\n"
  "std::span<const std::string_view> standard_module_names() { return names; }\n\n"
  "}  // namespace tenon::types\n")
file(WRITE ${OUTPUT} "${source}${names}${texts}")
