# Removes the run path, a folder of the machine that has built it, from the program or library OBJECT; as `cmake
# --install` does.
file(RPATH_REMOVE FILE "${OBJECT}")
