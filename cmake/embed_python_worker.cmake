# cmake -D OUTPUT=FILE.cpp -D FILES=A;B -P embed_python_worker.cmake: writes the Python files as one program, which gives
# `tenon` the modules, for functions that import the package where it is not installed, and then runs the worker.
set(program "sources = {}\n")
foreach(file IN LISTS FILES)
  cmake_path(GET file STEM name)
  file(READ ${file} text)
  if(text MATCHES "'''")
    message(FATAL_ERROR "${file} contains ''', which marks its end in the program of a worker")
  endif()
  string(APPEND program "sources['${name}'] = r'''${text}'''\n")
endforeach()
string(APPEND program "
import importlib.util
import sys
import types

def make_package(name, kept):
    package = types.ModuleType(name)
    package.__path__ = []
    sys.modules[name] = package
    for part, source in sources.items():
        if part not in kept:
            continue
        module = types.ModuleType(name + '.' + part)
        module.__package__ = name
        sys.modules[module.__name__] = module
        exec(compile(source, '<tenon ' + part + '>', 'exec'), vars(module))
    return package

make_package('_tenon_worker', sources)
if importlib.util.find_spec('tenon') is None:
    package = make_package('tenon', [part for part in sources if part != '_worker'])
    for part in ('_errors', '_types', '_marks'):
        public = {key: value for key, value in vars(sys.modules['tenon.' + part]).items() if key[0] != '_'}
        vars(package).update(public)
sys.modules['_tenon_worker._worker'].main()
")
string(LENGTH "${program}" length)
if(length GREATER 120000)
  message(FATAL_ERROR "the program of a worker has ${length} bytes; an argument of a process may have 131072")
endif()
# A C++ compiler need not accept long literals.
set(pieces)
while(NOT program STREQUAL "")
  string(SUBSTRING "${program}" 0 8000 piece)
  string(APPEND pieces "    R\"tenon(${piece})tenon\"\n")
  string(LENGTH "${program}" length)
  if(length GREATER 8000)
    string(SUBSTRING "${program}" 8000 -1 program)
  else()
    set(program "")
  endif()
endwhile()
file(WRITE ${OUTPUT} "#include \"tools/python/worker_source.h\"\n\nnamespace tenon::tools {\n
std::string_view worker_source() {\n  return\n${pieces}  ;\n}\n\n}  // namespace tenon::tools\n")
