// The program that owns the tests' precompiled header; see ringside_test_headers in
// cmake/RingsideTargets.cmake.
int main() { return 0; }
