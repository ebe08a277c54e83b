# Packages, made in a build tree: `cpack -G DEB` makes distrun_VERSION_ARCH.deb (programs, libdistrun.so and its
# modules), distrun-mpi_VERSION_ARCH.deb (distrun-pmix, where libpmix is found) and libdistrun-dev_VERSION_ARCH.deb
# (headers, CMake and pkg-config files); `cpack -G TGZ` an archive with all, which works wherever it is unpacked.
set(CPACK_PACKAGE_NAME distrun)
set(CPACK_PACKAGE_VENDOR distrun)
set(CPACK_PACKAGE_CONTACT "The distrun maintainers <maintainers@distrun.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "runs tests that need several ranks, and explains why they hang")
set(CPACK_PACKAGE_DESCRIPTION "distrun starts the ranks of a test or of any program, watches them, and says which rank \
hangs, what it waits for, and why. It has collectives, RPC, remote references and distributed autograd for tests.")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGE_FILE_NAME distrun-${PROJECT_VERSION}-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_COMPONENTS_ALL runtime dev)
if(TARGET distrun-pmix)
  list(APPEND CPACK_COMPONENTS_ALL mpi)
endif()
set(CPACK_ARCHIVE_COMPONENT_INSTALL OFF)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME distrun)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SUGGESTS distrun-mpi)
set(CPACK_DEBIAN_MPI_PACKAGE_NAME distrun-mpi)
set(CPACK_DEBIAN_MPI_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_MPI_PACKAGE_DEPENDS "distrun (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_DEV_PACKAGE_NAME libdistrun-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "distrun (= ${PROJECT_VERSION})")
# Libraries of Debian that the programs, libdistrun.so or its modules are linked with become dependencies.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
include(CPack)
