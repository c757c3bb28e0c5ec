# What every target shares: the language, the warnings, the sanitizers, and the tools that make building quicker.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

set(SWITCHYARD_SANITIZE "" CACHE STRING "address (with undefined), thread, or empty")
option(SWITCHYARD_COVERAGE "Measure line coverage" OFF)

add_library(sy_flags INTERFACE)
target_compile_options(sy_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-align -Wswitch -Werror
  -fno-omit-frame-pointer)
target_include_directories(sy_flags INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/lib)
target_compile_definitions(sy_flags INTERFACE $<$<CONFIG:Debug>:_GLIBCXX_ASSERTIONS>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 reports these inside the standard library and Asio at -O2 and under sanitizers: noise, not findings.
  target_compile_options(sy_flags INTERFACE -Wno-maybe-uninitialized -Wno-restrict -Wno-stringop-overflow
    -Wno-array-bounds -Wno-dangling-pointer -Wno-free-nonheap-object -Wno-stringop-overread)
else()
  # std::stable_sort of libstdc++ 12 uses a function that it deprecates itself, and clang says so at every call.
  target_compile_options(sy_flags INTERFACE -Wno-deprecated-declarations)
endif()

if(SWITCHYARD_SANITIZE STREQUAL "address")
  target_compile_options(sy_flags INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=undefined)
  target_link_options(sy_flags INTERFACE -fsanitize=address,undefined)
elseif(SWITCHYARD_SANITIZE STREQUAL "thread")
  target_compile_options(sy_flags INTERFACE -fsanitize=thread)
  target_link_options(sy_flags INTERFACE -fsanitize=thread)
elseif(NOT SWITCHYARD_SANITIZE STREQUAL "")
  message(FATAL_ERROR "SWITCHYARD_SANITIZE is '${SWITCHYARD_SANITIZE}': write address, thread, or nothing")
endif()
if(SWITCHYARD_COVERAGE)
  target_compile_options(sy_flags INTERFACE --coverage -O0)
  target_link_options(sy_flags INTERFACE --coverage)
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${CCACHE_PROGRAM})
endif()
find_program(MOLD_PROGRAM mold)
if(MOLD_PROGRAM)
  add_link_options(-fuse-ld=mold)
endif()
