/*
 * The name of mspti.h, under which programs include what mspti_activity.h declares.
 *
 * Part of Jumar. SPDX-License-Identifier: Apache-2.0
 */
#ifndef MSPTI_H
#define MSPTI_H

#include "mspti_activity.h"

#endif /* MSPTI_H */
