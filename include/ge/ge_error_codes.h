/* The same statuses, under another name. */
#ifndef JUMAR_GE_ERROR_CODES_H_
#define JUMAR_GE_ERROR_CODES_H_
#include "ge_api_error_codes.h"
#endif
