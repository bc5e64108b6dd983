# cmake -D OUTPUT=FILE.cpp -D FILES=A;B -P embed_pages.cmake: writes the diagnostics' pages as a table of C++ strings.
list(LENGTH FILES count)
string(CONCAT entries "#include \"diagnostics/pages.h\"\n\n#include <array>\n\nnamespace tenon::diagnostics {\nnamespace {\n\n"
  "struct Page {\n  std::string_view code, text;\n};\n\nconstexpr std::array<Page, ${count}> pages = {{\n")
foreach(file IN LISTS FILES)
  cmake_path(GET file STEM code)
  file(READ ${file} text)
  string(APPEND entries "    {\"${code}\", R\"tenon(${text})tenon\"},\n")
endforeach()
string(APPEND entries "}};\n\n}  // namespace\n\n"
  "std::optional<std::string_view> find_page(std::string_view code) {\n  for (const Page& page : pages) {\n"
  "    if (page.code == code) return page.text;\n  }\n  return std::nullopt;\n}\n\n"
  "std::vector<std::string_view> page_codes() {\n  std::vector<std::string_view> codes;\n"
  "  for (const Page& page : pages) codes.push_back(page.code);\n  return codes;\n}\n\n"
  "}  // namespace tenon::diagnostics\n")
file(WRITE ${OUTPUT} "${entries}")
