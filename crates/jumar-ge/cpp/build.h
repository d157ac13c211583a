/* What offline builds and sessions share. */
#ifndef JUMAR_GE_CPP_BUILD_H_
#define JUMAR_GE_CPP_BUILD_H_

#include "public.h"
#include "wire.h"

namespace ge {
namespace jumar {

/* Copies the whole reply into the model. */
void Fill(ModelBufferData &model, const Reply &reply);

}  // namespace jumar
}  // namespace ge

#endif
