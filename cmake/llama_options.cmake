# Included by llama.cpp's own project. Functions in sections of their own: the Python package leaves out those that it does not use. The
# library `llama` prepares what ggml computes, a few hundred steps for each token, so that it is compiled for its size.
add_compile_options(-ffunction-sections -fdata-sections)
cmake_language(DEFER CALL target_compile_options llama PRIVATE -Os)
