// The operator z = alpha * x + y: its definition, and how a call is cut into parts.
#include "axpy_custom_tiling.h"
#include "register/op_def_registry.h"
#include "tiling/platform/platform_ascendc.h"

namespace optiling {

constexpr uint64_t KEY_WITH_FACTOR = 1;
constexpr uint64_t KEY_OF_SUM = 2;

static ge::graphStatus TilingFunc(gert::TilingContext* context)
{
    const gert::StorageShape* shape = context->GetInputShape(0);
    const float* alpha = context->GetAttrs()->GetFloat(0);
    if (shape == nullptr || alpha == nullptr) return ge::GRAPH_FAILED;
    platform_ascendc::PlatformAscendC platform(context->GetPlatformInfo());
    const uint64_t elements = static_cast<uint64_t>(shape->GetStorageShape().GetShapeSize());
    const uint64_t size = context->GetInputDesc(0)->GetDataType() == ge::DT_FLOAT16 ? 2 : 4;
    const uint64_t block = 32 / size;

    // Each core has a multiple of 32 bytes, and there are no more cores than the elements need.
    uint64_t cores = platform.GetCoreNumAiv();
    const uint64_t each = ((elements + cores - 1) / cores + block - 1) / block * block;
    cores = (elements + each - 1) / each;

    // Three queues with two buffers each share the local memory.
    uint64_t local_bytes = 0;
    platform.GetCoreMemSize(platform_ascendc::CoreMemType::UB, local_bytes);
    const uint64_t tile = local_bytes / 6 / 256 * 256 / size;

    AxpyTilingData tiling;
    tiling.set_elements(elements);
    tiling.set_elementsOfCore(each);
    tiling.set_elementsOfTile(static_cast<uint32_t>(tile < each ? tile : each));
    tiling.set_alpha(*alpha);
    tiling.SaveToBuffer(context->GetRawTilingData()->GetData(), context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
    context->SetBlockDim(static_cast<uint32_t>(cores));
    context->SetTilingKey(*alpha == 1.0f ? KEY_OF_SUM : KEY_WITH_FACTOR);
    size_t* workspaces = context->GetWorkspaceSizes(1);
    workspaces[0] = 0;
    return ge::GRAPH_SUCCESS;
}

} // namespace optiling

namespace ge {
static ge::graphStatus InferShape(gert::InferShapeContext* context)
{
    *context->GetOutputShape(0) = *context->GetInputShape(0);
    return ge::GRAPH_SUCCESS;
}
static ge::graphStatus InferDataType(gert::InferDataTypeContext* context)
{
    return context->SetOutputDataType(0, context->GetInputDataType(0));
}
} // namespace ge

namespace ops {

class AxpyCustom : public OpDef {
public:
    explicit AxpyCustom(const char* name) : OpDef(name)
    {
        this->Input("x").ParamType(REQUIRED).DataType({ge::DT_FLOAT16, ge::DT_FLOAT}).Format({ge::FORMAT_ND, ge::FORMAT_ND});
        this->Input("y").ParamType(REQUIRED).DataType({ge::DT_FLOAT16, ge::DT_FLOAT}).Format({ge::FORMAT_ND, ge::FORMAT_ND});
        this->Output("z").ParamType(REQUIRED).DataType({ge::DT_FLOAT16, ge::DT_FLOAT}).Format({ge::FORMAT_ND, ge::FORMAT_ND});
        this->Attr("alpha").AttrType(OPTIONAL).Float(1.0f);
        this->SetInferShape(ge::InferShape).SetInferDataType(ge::InferDataType);
        this->AICore().SetTiling(optiling::TilingFunc);
        this->AICore().AddConfig("ascend910b");
    }
};
OP_ADD(AxpyCustom);

} // namespace ops
