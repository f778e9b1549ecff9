// A Python that can import what a test needs.
#ifndef RINGSIDE_TESTS_TESTING_PYTHON_INTERPRETER_H_
#define RINGSIDE_TESTS_TESTING_PYTHON_INTERPRETER_H_

#include <string>

namespace ringside {

// The first of build/python (`make test-python` fills it with tests/requirements.txt), Debian's
// /usr/bin/python3, and python3 of the PATH that imports `module`; empty where none does.
std::string PythonWith(const std::string& module);

}  // namespace ringside

#endif  // RINGSIDE_TESTS_TESTING_PYTHON_INTERPRETER_H_
