#include "support/paths.hpp"

std::string source_dir() { return SY_SOURCE_DIR; }
std::string golden_dir() { return SY_SOURCE_DIR "/tests/golden"; }
std::string supervisor_program() { return SY_BINARY_DIR "/daemon/switchyard-supervisor"; }
