/*
 * The name of mspti_result.h, under which programs include what mspti_activity.h declares.
 *
 * Part of Jumar. SPDX-License-Identifier: Apache-2.0
 */
#ifndef MSPTI_RESULT_H
#define MSPTI_RESULT_H

#include "mspti_activity.h"

#endif /* MSPTI_RESULT_H */
