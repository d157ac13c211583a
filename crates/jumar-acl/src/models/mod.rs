//! Models and what they take and give: tensors, data sets, images, bundles.

pub mod aipp;
pub mod bundle;
pub mod compile_option;
pub mod data_buffer;
pub mod dataset;
pub mod model;
pub mod model_config;
pub mod model_desc;
pub(crate) mod queue_driven;
pub mod tensor_desc;
pub mod type_util;
