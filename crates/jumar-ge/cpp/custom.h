/* Operators that only the program knows: what their classes registered. */
#ifndef JUMAR_GE_CPP_CUSTOM_H_
#define JUMAR_GE_CPP_CUSTOM_H_

#include <memory>
#include <utility>
#include <vector>

#include "public.h"

namespace ge {
namespace jumar {

/* Loads the libraries of custom operators that the environment names. */
void LoadCustomOperators();

/* The inputs, outputs and attributes of an operator type in the order of REG_OP: their names, and how often each occurs or its
 * type. */
struct Definition {
  std::vector<std::pair<AscendString, AscendString>> inputs;
  std::vector<std::pair<AscendString, AscendString>> outputs;
  std::vector<std::pair<AscendString, AscendString>> attributes;
};

/* Returns the definition of a type that the program registered, or null. */
std::shared_ptr<const Definition> DefinitionOf(const char_t *type);

/* Adds an attribute to the definition that is recorded on this thread. */
void RecordAttribute(const char_t *name, const char_t *type);

}  // namespace jumar
}  // namespace ge

#endif
