/* The line between the runtime and its CUDA module, which is built by nvcc and opened on first use: a table of plain
 * functions that see raw pointers, sizes and streams. The runtime's side is cuda_driver.cpp.
 *
 * Each function returns 0 or a CUDA error number; text() says what that means. Streams and events are CUDA's own
 * handles as numbers; stream 0 is the device's default stream. Any thread.
 */
#ifndef DISTRUN_DEVICE_CUDA_LINE_H
#define DISTRUN_DEVICE_CUDA_LINE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DISTRUN_CUDA_ABI 3u
#define DISTRUN_CUDA_HANDLE_SIZE 64
#define DISTRUN_CUDA_DIMS 64    /* as many as device::Dims has at most */
#define DISTRUN_CUDA_OPERANDS 4 /* the output and the inputs */
#define DISTRUN_CUDA_NO_KERNEL (-1)

enum { DISTRUN_CUDA_OUT_OF_MEMORY = 2, DISTRUN_CUDA_NOT_READY = 600 };

typedef struct distrun_cuda_properties {
  char name[256];
  char uuid[64];
  size_t memory_bytes;
  int multiprocessors;
  uint64_t clock_hz;
} distrun_cuda_properties;

/* Types of elements, as device::ElementType has them. */
enum {
  DISTRUN_CUDA_BOOL,
  DISTRUN_CUDA_U8,
  DISTRUN_CUDA_I8,
  DISTRUN_CUDA_I16,
  DISTRUN_CUDA_I32,
  DISTRUN_CUDA_I64,
  DISTRUN_CUDA_F32,
  DISTRUN_CUDA_F64
};

/* One of a kernel's outputs or inputs. */
typedef struct distrun_cuda_operand {
  void* address;                      /* of the element with index 0 in every dimension; null: `number` is every one */
  int64_t strides[DISTRUN_CUDA_DIMS]; /* bytes */
  uint64_t number;                    /* its first bytes are an element */
  int32_t type;
} distrun_cuda_operand;

/* What an elementwise kernel computes: device::Elementwise, with addresses. No size is 0. The output may be the very
 * same elements as an input, and overlaps none otherwise. */
typedef struct distrun_cuda_kernel {
  const char* operation;
  int64_t sizes[DISTRUN_CUDA_DIMS]; /* outermost first */
  int32_t dims;
  int32_t operands; /* how many */
  distrun_cuda_operand operand[DISTRUN_CUDA_OPERANDS];
  uint64_t parameter; /* its first bytes are an element */
} distrun_cuda_kernel;

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

  /* DISTRUN_CUDA_NO_KERNEL, and nothing is done, for what the module has no kernel for. */
  int (*launch)(int device, uint64_t stream, const distrun_cuda_kernel* kernel);
} distrun_cuda_module;

/* The module's one exported symbol; good until the process ends. */
typedef const distrun_cuda_module* (*distrun_cuda_entry_t)(void);

#ifdef __cplusplus
}
#endif
#endif
