/* The line between the runtime and its CUDA module, which is built by nvcc and opened on first use: a table of plain
 * functions that see raw pointers, sizes and streams. The runtime's side is cuda_driver.cpp.
 *
 * Each function returns 0 or a CUDA error number; text() says what that means. Streams and events are CUDA's own
 * handles as numbers; stream 0 is the device's default stream. Any thread.
 */
#ifndef DISTRUN_DEVICE_CUDA_MODULE_H
#define DISTRUN_DEVICE_CUDA_MODULE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DISTRUN_CUDA_ABI 1u
#define DISTRUN_CUDA_HANDLE_SIZE 64

enum { DISTRUN_CUDA_OUT_OF_MEMORY = 2, DISTRUN_CUDA_NOT_READY = 600 };

typedef struct distrun_cuda_properties {
  char name[256];
  char uuid[64];
  size_t memory_bytes;
  int multiprocessors;
  uint64_t clock_hz;
} distrun_cuda_properties;

typedef struct distrun_cuda_module {
  uint32_t size;
  uint32_t abi;
  const char* (*text)(int error);

  int (*count)(int* devices);
  int (*properties)(int device, distrun_cuda_properties* to);
  int (*can_access_peer)(int device, int peer, int* can);
  int (*enable_peer)(int device, int peer);

  int (*allocate)(int device, size_t bytes, void** memory);
  int (*release)(int device, void* memory);
  int (*free_bytes)(int device, size_t* bytes);
  int (*allocate_pinned)(size_t bytes, void** memory);
  int (*release_pinned)(void* memory);
  int (*device_of)(const void* memory, int* device); /* -1: the host's */

  int (*make_stream)(int device, int high_priority, uint64_t* stream);
  int (*destroy_stream)(int device, uint64_t stream);
  int (*query_stream)(int device, uint64_t stream); /* DISTRUN_CUDA_NOT_READY while there is work */
  int (*wait_for_stream)(int device, uint64_t stream);
  int (*wait_for_device)(int device);

  int (*make_event)(int device, int timing, int interprocess, uint64_t* event);
  int (*destroy_event)(int device, uint64_t event);
  int (*record)(int device, uint64_t stream, uint64_t event);
  int (*stream_waits)(int device, uint64_t stream, uint64_t event);
  int (*query_event)(uint64_t event);
  int (*wait_for_event)(uint64_t event);
  int (*elapsed)(uint64_t from, uint64_t to, float* milliseconds);

  int (*copy)(int device, uint64_t stream, void* to, const void* from, size_t bytes);
  int (*fill_bytes)(int device, uint64_t stream, void* memory, int byte, size_t bytes);
  int (*call_host)(int device, uint64_t stream, void (*body)(void*), void* context);
  int (*busy)(int device, uint64_t stream, uint64_t cycles);

  int (*export_memory)(int device, void* begin, unsigned char handle[DISTRUN_CUDA_HANDLE_SIZE]);
  int (*import_memory)(int device, const unsigned char handle[DISTRUN_CUDA_HANDLE_SIZE], void** memory);
  int (*close_imported)(int device, void* memory);
  int (*export_event)(uint64_t event, unsigned char handle[DISTRUN_CUDA_HANDLE_SIZE]);
  int (*import_event)(int device, const unsigned char handle[DISTRUN_CUDA_HANDLE_SIZE], uint64_t* event);

  /* Kernels over `count` contiguous floats. */
  int (*fill)(int device, uint64_t stream, float* to, float value, size_t count);
  int (*add)(int device, uint64_t stream, float* to, const float* a, const float* b, size_t count);
  int (*mul)(int device, uint64_t stream, float* to, const float* a, const float* b, size_t count);
} distrun_cuda_module;

/* The module's one exported symbol; good until the process ends. */
typedef const distrun_cuda_module* (*distrun_cuda_entry_t)(void);

#ifdef __cplusplus
}
#endif
#endif
