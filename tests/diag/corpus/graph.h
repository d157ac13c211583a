// What the corpus's programs of the Graph Engine share: a graph y = x + x of four floats, and tensors on the device.
#ifndef CORPUS_GRAPH_H
#define CORPUS_GRAPH_H

#include <map>
#include <vector>

#include "corpus.h"

#include "all_ops.h"
#include "ge/ge_api.h"

typedef std::map<ge::AscendString, ge::AscendString> Options;

enum { COUNT = 4, BYTES = COUNT * sizeof(float) };

inline ge::TensorDesc Desc() { return ge::TensorDesc(ge::Shape({COUNT}), ge::FORMAT_ND, ge::DT_FLOAT); }

inline ge::Graph Doubled()
{
    ge::op::Data x("x");
    x.set_attr_index(0);
    x.update_input_desc_x(Desc());
    x.update_output_desc_y(Desc());
    ge::op::Add sum("sum");
    sum.set_input_x1(x).set_input_x2(x);
    ge::Graph graph("doubled");
    graph.SetInputs({x}).SetOutputs(std::vector<ge::Operator>{sum});
    return graph;
}

inline ge::Tensor OnDevice(void *memory)
{
    ge::TensorDesc desc = Desc();
    desc.SetPlacement(ge::kPlacementDevice);
    ge::Tensor tensor(desc);
    tensor.SetData(static_cast<uint8_t *>(memory), BYTES, [](uint8_t *) {});
    return tensor;
}

#endif
