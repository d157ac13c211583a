// The operator z[i] = sign[i] * factor[i] * x[i] + shift[i] + bias[0] over lists of tensors. Its attributes are lists.
#include "register/op_def_registry.h"
#include "register/tilingdata_base.h"
#include "tiling/platform/platform_ascendc.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(ScaleListTiling)
TILING_DATA_FIELD_DEF(uint32_t, count)
TILING_DATA_FIELD_DEF_ARR(uint32_t, 8, elements)
TILING_DATA_FIELD_DEF_ARR(float, 8, factors)
TILING_DATA_FIELD_DEF_ARR(float, 8, shifts)
END_TILING_DATA_DEF
REGISTER_TILING_DATA_CLASS(ScaleList, ScaleListTiling)

static ge::graphStatus TilingFunc(gert::TilingContext* context)
{
    const gert::AnchorInstanceInfo* tensors = context->GetIrInputInstanceInfo(0);
    if (tensors == nullptr || tensors->GetInstanceNum() > 8 || context->GetComputeNodeInputNum() != tensors->GetInstanceNum() + 1) return ge::GRAPH_FAILED;
    // The second parameter stands behind all tensors of the first one.
    const size_t count = tensors->GetInstanceNum();
    if (context->GetRequiredInputShape(1)->GetStorageShape() != context->GetInputShape(count)->GetStorageShape()) return ge::GRAPH_FAILED;
    if (context->GetDynamicInputShape(0, count) != nullptr || context->GetDynamicInputDesc(0, 0)->GetDataType() != context->GetInputDesc(0)->GetDataType())
        return ge::GRAPH_FAILED;
    const auto* shifts = context->GetAttrs()->GetListInt(0);
    const auto* factors = context->GetAttrs()->GetListFloat(1);
    const auto* signs = context->GetAttrs()->GetAttrPointer<gert::TypedContinuousVector<bool>>(2);
    if (shifts->GetSize() < count || factors->GetSize() < count || signs->GetSize() < count) return ge::GRAPH_FAILED;
    ScaleListTiling tiling;
    uint32_t elements[8] = {};
    float scales[8] = {}, added[8] = {};
    for (size_t at = 0; at < count; at++) {
        elements[at] = static_cast<uint32_t>(context->GetDynamicInputShape(0, at)->GetStorageShape().GetShapeSize());
        if (elements[at] != static_cast<uint32_t>(context->GetDynamicOutputShape(0, at)->GetStorageShape().GetShapeSize())) return ge::GRAPH_FAILED;
        scales[at] = signs->GetData()[at] ? -factors->GetData()[at] : factors->GetData()[at];
        added[at] = static_cast<float>(shifts->GetData()[at]);
    }
    tiling.set_count(static_cast<uint32_t>(count));
    tiling.set_elements(elements);
    tiling.set_factors(scales);
    tiling.set_shifts(added);
    tiling.SaveToBuffer(context->GetRawTilingData()->GetData(), context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
    context->SetBlockDim(2);
    return ge::GRAPH_SUCCESS;
}
} // namespace optiling

namespace ops {
class ScaleList : public OpDef {
public:
    explicit ScaleList(const char* name) : OpDef(name)
    {
        this->Input("x").ParamType(DYNAMIC).DataType({ge::DT_FLOAT16, ge::DT_FLOAT}).Format({ge::FORMAT_ND, ge::FORMAT_ND});
        this->Input("bias").ParamType(REQUIRED).DataType({ge::DT_FLOAT, ge::DT_FLOAT}).Format({ge::FORMAT_ND, ge::FORMAT_ND});
        this->Output("z").ParamType(DYNAMIC).DataType({ge::DT_FLOAT16, ge::DT_FLOAT}).Format({ge::FORMAT_ND, ge::FORMAT_ND});
        this->Attr("shifts").AttrType(REQUIRED).ListInt();
        this->Attr("factors").AttrType(OPTIONAL).ListFloat({0.5f, 2.0f, 1.0f, 1.0f});
        this->Attr("signs").AttrType(OPTIONAL).ListBool({false, true, false, false});
        this->AICore().SetTiling(optiling::TilingFunc);
        this->AICore().AddConfig("ascend910b");
    }
};
OP_ADD(ScaleList);
} // namespace ops
