//! The operators, by family. Each file has a table of names and of the functions that plan them.

mod arrange;
pub mod atb;
mod attention;
mod bag;
mod batch_statistics;
mod boxes;
mod brain;
mod compress;
mod data;
mod deform;
mod dense;
mod distance;
mod elementwise;
mod filter;
mod fused;
mod gates;
mod group_norm;
mod groups;
mod images;
mod index;
mod joined;
mod latent;
mod latent_cache;
mod layouts;
mod linalg;
mod lora;
mod loss;
mod matrix;
mod modulate;
mod network;
mod normalization;
mod operands;
mod optimizer;
mod products;
mod quant;
mod random;
mod recurrent;
mod reduction;
mod rounding;
mod routing;
mod sampler;
mod scan;
mod segments;
mod silent;
mod sleep;
mod sparse;
#[cfg(test)]
mod specials;
mod spectrum;
mod statistics;
mod stepping;
mod token_choice;
mod variants;
mod window;

use crate::Refusal;
use crate::build::Cx;

/// Plans one call.
pub(crate) type PlanFn = fn(&mut Cx<'_>) -> Result<(), Refusal>;

/// The operators of one family, by name.
pub(crate) type Table = [(&'static str, PlanFn)];

/// The tables of all families.
static TABLES: &[&Table] = &[
    attention::TABLE,
    fused::TABLE,
    arrange::TABLE,
    bag::TABLE,
    batch_statistics::TABLE,
    boxes::TABLE,
    compress::TABLE,
    deform::TABLE,
    distance::TABLE,
    filter::TABLE,
    group_norm::TABLE,
    images::TABLE,
    joined::TABLE,
    latent::TABLE,
    latent_cache::TABLE,
    layouts::TABLE,
    linalg::TABLE,
    lora::TABLE,
    loss::TABLE,
    matrix::TABLE,
    modulate::TABLE,
    network::TABLE,
    normalization::TABLE,
    recurrent::TABLE,
    reduction::TABLE,
    sampler::TABLE,
    scan::TABLE,
    segments::TABLE,
    silent::TABLE,
    sleep::TABLE,
    sparse::TABLE,
    spectrum::TABLE,
    statistics::TABLE,
    stepping::TABLE,
    token_choice::TABLE,
    window::TABLE,
    elementwise::ACTIVATION,
    elementwise::ARITHMETIC,
    elementwise::COMPARISON,
    elementwise::GATE,
    elementwise::LISTS,
    elementwise::MOVE,
    elementwise::UNARY,
    optimizer::TABLE,
    products::TABLE,
    quant::TABLE,
    rounding::TABLE,
    routing::TABLE,
    variants::TABLE,
    data::TABLE,
    index::ADVANCED,
    index::COMBINE,
    index::DISTINCT,
    index::GATHER,
    index::MASK,
    index::REPEAT,
    index::SCATTER,
    index::SORT,
    index::STARTS,
    random::DROPOUT,
    random::LEAKY,
    random::TABLE,
];

/// Slots of the index; a power of two, at most half of them used.
const SLOTS: usize = 4096;

/// For the hash of each name, the table and the row of its operator, each plus 1.
static INDEX: [(u16, u16); SLOTS] = index();

const fn hash(name: &str) -> usize {
    let (bytes, mut at) = (name.as_bytes(), 0);
    let mut hash: u32 = 0x811c_9dc5;
    while at < bytes.len() {
        hash = (hash ^ bytes[at] as u32).wrapping_mul(0x0100_0193);
        at += 1;
    }
    (hash ^ hash >> 15) as usize % SLOTS
}

const fn index() -> [(u16, u16); SLOTS] {
    let mut index = [(0, 0); SLOTS];
    let mut table = 0;
    while table < TABLES.len() {
        let mut row = 0;
        while row < TABLES[table].len() {
            let mut slot = hash(TABLES[table][row].0);
            while index[slot].0 != 0 {
                slot = (slot + 1) % SLOTS;
            }
            index[slot] = (table as u16 + 1, row as u16 + 1);
            row += 1;
        }
        table += 1;
    }
    index
}

/// Finds the function that plans an operator.
pub(crate) fn find(name: &str) -> Option<PlanFn> {
    let mut slot = hash(name);
    loop {
        let (table, row) = INDEX[slot];
        let (own, plan) = TABLES[usize::from(table).checked_sub(1)?][usize::from(row) - 1];
        if own == name {
            return Some(plan);
        }
        slot = (slot + 1) % SLOTS;
    }
}

/// Reports whether an operator is computed.
pub fn is_computed(name: &str) -> bool {
    find(name).is_some()
}

/// Returns the names of all operators that are computed.
pub fn computed() -> impl Iterator<Item = &'static str> {
    TABLES
        .iter()
        .flat_map(|table| table.iter().map(|(name, _)| *name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_found_once() {
        let mut names: Vec<&str> = computed().collect();
        assert!(names.iter().all(|name| is_computed(name)));
        assert!(names.len() * 2 < SLOTS);
        names.sort_unstable();
        for pair in names.windows(2) {
            assert_ne!(pair[0], pair[1], "an operator has two rows");
        }
        assert!(!is_computed("aclnnNoSuchOperator") && !is_computed(""));
    }
}
