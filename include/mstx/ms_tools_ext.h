/* Marks and ranges of a program in profiles (mstx). The functions are those of acl_prof.h under other names: a program needs no further library. */
#ifndef JUMAR_MSTX_MS_TOOLS_EXT_H
#define JUMAR_MSTX_MS_TOOLS_EXT_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "acl/acl_prof.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A range; 0 stands for none. */
typedef uint64_t mstxRangeId;

typedef struct mstxDomain {
  char *name;
} mstxDomain;
typedef mstxDomain *mstxDomainHandle_t;

/* Without the runtime in the process, marks and ranges have no effect. */
#pragma weak aclprofCreateStamp
#pragma weak aclprofDestroyStamp
#pragma weak aclprofSetStampTraceMessage
#pragma weak aclprofMark
#pragma weak aclprofMarkEx
#pragma weak aclprofRangeStart
#pragma weak aclprofRangeStop

/* Returns a stamp with the text, or null. */
static inline void *jumar_mstx_stamp(const char *message) {
  void *stamp;
  if (!message || !&aclprofCreateStamp) return NULL;
  stamp = aclprofCreateStamp();
  if (stamp && aclprofSetStampTraceMessage(stamp, message, (uint32_t)strlen(message)) != 0) {
    aclprofDestroyStamp(stamp);
    return NULL;
  }
  return stamp;
}

/* Sets a mark: on the stream in its order, or on the calling thread if the stream is null. */
static inline void mstxMarkA(const char *message, aclrtStream stream) {
  void *stamp;
  if (!message || !&aclprofMarkEx) return;
  if (stream) {
    (void)aclprofMarkEx(message, strlen(message), stream);
    return;
  }
  stamp = jumar_mstx_stamp(message);
  if (!stamp) return;
  (void)aclprofMark(stamp);
  aclprofDestroyStamp(stamp);
}

/* Begins a range, which any thread may end. With a stream, its beginning is marked there too. Returns 0 on failure. */
static inline mstxRangeId mstxRangeStartA(const char *message, aclrtStream stream) {
  uint32_t range = 0;
  void *stamp = jumar_mstx_stamp(message);
  if (!stamp) return 0;
  if (aclprofRangeStart(stamp, &range) != 0) range = 0;
  aclprofDestroyStamp(stamp);
  if (range && stream) (void)aclprofMarkEx(message, strlen(message), stream);
  return range;
}

static inline void mstxRangeEnd(mstxRangeId id) {
  if (id && &aclprofRangeStop) (void)aclprofRangeStop((uint32_t)id);
}

/* Marks and ranges of a domain have its name in front of their text. */
static inline mstxDomainHandle_t mstxDomainCreateA(const char *name) {
  mstxDomainHandle_t domain;
  if (!name) return NULL;
  domain = (mstxDomainHandle_t)malloc(sizeof *domain);
  if (!domain) return NULL;
  domain->name = (char *)malloc(strlen(name) + 1);
  if (!domain->name) {
    free(domain);
    return NULL;
  }
  strcpy(domain->name, name);
  return domain;
}

static inline void mstxDomainDestroy(mstxDomainHandle_t domain) {
  if (!domain) return;
  free(domain->name);
  free(domain);
}

/* Returns the text with the domain's name, which the caller frees; null if memory is short. */
static inline char *jumar_mstx_text(mstxDomainHandle_t domain, const char *message) {
  char *text;
  if (!domain || !message) return NULL;
  text = (char *)malloc(strlen(domain->name) + strlen(message) + 3);
  if (!text) return NULL;
  strcpy(text, domain->name);
  strcat(text, ": ");
  strcat(text, message);
  return text;
}

static inline void mstxDomainMarkA(mstxDomainHandle_t domain, const char *message, aclrtStream stream) {
  char *text = jumar_mstx_text(domain, message);
  mstxMarkA(text, stream);
  free(text);
}

static inline mstxRangeId mstxDomainRangeStartA(mstxDomainHandle_t domain, const char *message, aclrtStream stream) {
  char *text = jumar_mstx_text(domain, message);
  const mstxRangeId id = mstxRangeStartA(text, stream);
  free(text);
  return id;
}

static inline void mstxDomainRangeEnd(mstxDomainHandle_t domain, mstxRangeId id) {
  (void)domain;
  mstxRangeEnd(id);
}

#ifdef __cplusplus
}
#endif

#endif
