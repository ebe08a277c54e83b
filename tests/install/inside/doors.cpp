#include "../outside/all_doors.cpp"
