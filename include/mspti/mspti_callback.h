/*
 * The name of mspti_callback.h, under which programs include what mspti_activity.h declares.
 *
 * Part of Jumar. SPDX-License-Identifier: Apache-2.0
 */
#ifndef MSPTI_CALLBACK_H
#define MSPTI_CALLBACK_H

#include "mspti_activity.h"

#endif /* MSPTI_CALLBACK_H */
