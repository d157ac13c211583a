/* The interface between Jumar and its plug-in for ranks on several machines. The plug-in moves bytes between the ranks of a mesh over
 * Gloo's TCP transport. It compares nothing and adds nothing: Jumar does both.
 *
 * A function that can fail writes a sentence that ends in a zero to `error`. No exception leaves the plug-in. Every function may be called
 * by any thread. */
#ifndef JUMAR_GLOO_H
#define JUMAR_GLOO_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Changes with every change of this file. Jumar refuses a plug-in of another version. */
#define JUMAR_GLOO_VERSION 1

/* What waits return. */
#define JUMAR_GLOO_DONE 0
#define JUMAR_GLOO_ABORTED 1
#define JUMAR_GLOO_FAILED (-1)

typedef struct jumar_gloo_mesh jumar_gloo_mesh;
typedef struct jumar_gloo_buffer jumar_gloo_buffer;

uint32_t jumar_gloo_version(void);

/* Creates one end of the connections between `size` ranks, which listens at an address of this machine. Returns null if it fails. */
jumar_gloo_mesh *jumar_gloo_create(const char *host, int32_t rank, int32_t size, uint64_t timeout_ms, char *error, size_t capacity);

/* Copies the address at which this end waits for `rank`, and returns its length; -1 if it does not fit. */
int64_t jumar_gloo_address(jumar_gloo_mesh *mesh, int32_t rank, uint8_t *bytes, size_t capacity);

/* Connects to the address that `rank` has for this rank. Waits until the connection stands. */
int32_t jumar_gloo_connect(jumar_gloo_mesh *mesh, int32_t rank, const uint8_t *bytes, size_t length, char *error, size_t capacity);

/* Closes all connections. What waits fails. */
void jumar_gloo_close(jumar_gloo_mesh *mesh);

/* Ends the use of a mesh. Buffers keep what they need of it. */
void jumar_gloo_destroy(jumar_gloo_mesh *mesh);

/* Prepares memory for one transfer. The memory has to stay until the buffer is released. */
jumar_gloo_buffer *jumar_gloo_prepare(jumar_gloo_mesh *mesh, void *data, size_t bytes, char *error, size_t capacity);

/* Start a transfer and return. `rank` -1 receives from any rank. A message longer than the buffer is an error of the connection. */
int32_t jumar_gloo_send(jumar_gloo_buffer *buffer, int32_t rank, uint64_t tag, char *error, size_t capacity);
int32_t jumar_gloo_receive(jumar_gloo_buffer *buffer, int32_t rank, uint64_t tag, char *error, size_t capacity);

/* Wait until the transfer has ended, was aborted or failed. `from` receives the other rank. */
int32_t jumar_gloo_wait_send(jumar_gloo_buffer *buffer, uint64_t timeout_ms, char *error, size_t capacity);
int32_t jumar_gloo_wait_receive(jumar_gloo_buffer *buffer, uint64_t timeout_ms, int32_t *from, char *error, size_t capacity);

/* Ends a wait in another thread. */
void jumar_gloo_abort(jumar_gloo_buffer *buffer);

/* Ends the use of a buffer. Nothing accesses its memory afterwards. */
void jumar_gloo_release(jumar_gloo_buffer *buffer);

#ifdef __cplusplus
}
#endif

#endif
