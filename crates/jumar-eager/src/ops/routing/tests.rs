//! Rows that are ordered by a map in which tokens have different numbers of experts, against loops over the map.

use jumar_types::dtype::DataType;

use crate::trial::Trial;

/// A map of tokens and experts.
struct Map {
    tokens: usize,
    experts: usize,
    chosen: Vec<bool>,
}

impl Map {
    /// Returns the elements that are true in the order of experts, as tokens and experts.
    fn by_expert(&self) -> Vec<(usize, usize)> {
        let all =
            (0..self.experts).flat_map(|expert| (0..self.tokens).map(move |token| (token, expert)));
        all.filter(|&(token, expert)| self.chosen[token * self.experts + expert])
            .collect()
    }

    fn bytes(&self) -> Vec<u8> {
        self.chosen.iter().map(|&own| u8::from(own)).collect()
    }
}

fn int32(bytes: &[u8]) -> Vec<i32> {
    let words = bytes.chunks(4);
    words
        .map(|word| i32::from_le_bytes(word.try_into().unwrap()))
        .collect()
}

fn permuted(map: &Map, rows: &[f32], probabilities: &[f32], count: usize) -> Trial {
    let (tokens, experts) = (map.tokens, map.experts);
    Trial::new("aclnnMoeTokenPermuteWithRoutingMap")
        .floats("tokens", &[tokens, 2], rows)
        .tensor(
            "routingMap",
            DataType::Bool,
            &[tokens, experts],
            map.bytes(),
        )
        .floats("probsOptional", &[tokens, experts], probabilities)
        .int("numOutTokens", count as i64)
        .output("permuteTokensOut", DataType::Float32, &[count, 2])
        .output("permuteProbsOutOptional", DataType::Float32, &[count])
        .output("sortedIndicesOut", DataType::Int32, &[count])
}

#[test]
fn tokens_may_have_different_numbers_of_experts() {
    let mut random = fastrand::Rng::with_seed(7);
    for _ in 0..20 {
        let (tokens, experts) = (1 + random.usize(..6), 1 + random.usize(..5));
        let mut chosen: Vec<bool> = (0..tokens * experts).map(|_| random.bool()).collect();
        chosen[0] = true;
        let map = Map {
            tokens,
            experts,
            chosen,
        };
        let order = map.by_expert();
        let rows: Vec<f32> = (0..tokens * 2).map(|_| random.f32()).collect();
        let probabilities: Vec<f32> = (0..tokens * experts).map(|_| random.f32()).collect();
        let count = order.len();
        let done = permuted(&map, &rows, &probabilities, count).run();
        let found = done.floats("permuteTokensOut");
        let shares = done.floats("permuteProbsOutOptional");
        let sorted = int32(done.bytes("sortedIndicesOut"));
        for (at, &(token, expert)) in order.iter().enumerate() {
            assert_eq!(found[2 * at..2 * at + 2], rows[2 * token..2 * token + 2]);
            assert_eq!(shares[at], probabilities[token * experts + expert]);
        }
        // In the order of tokens: where each element went.
        let mut by_token = order.clone();
        by_token.sort_unstable();
        let wanted = by_token
            .iter()
            .map(|own| order.iter().position(|other| other == own));
        let wanted: Vec<i32> = wanted.map(|at| at.unwrap() as i32).collect();
        assert_eq!(sorted, wanted);

        let sorted_bytes = done.bytes("sortedIndicesOut").to_vec();
        let combined = Trial::new("aclnnMoeTokenUnpermuteWithRoutingMap")
            .floats("permutedTokens", &[count, 2], &found)
            .tensor("sortedIndices", DataType::Int32, &[count], sorted_bytes)
            .tensor(
                "routingMapOptional",
                DataType::Bool,
                &[tokens, experts],
                map.bytes(),
            )
            .floats("probsOptional", &[tokens, experts], &probabilities)
            .output("unpermutedTokens", DataType::Float32, &[tokens, 2])
            .output("outIndex", DataType::Int32, &[count])
            .output("permuteTokenId", DataType::Int32, &[count])
            .output("permuteProbs", DataType::Float32, &[count])
            .run();
        for (token, out) in combined.floats("unpermutedTokens").chunks(2).enumerate() {
            let own = order.iter().filter(|own| own.0 == token);
            let sum: f32 = own.map(|own| probabilities[token * experts + own.1]).sum();
            for (entry, &value) in out.iter().enumerate() {
                let wanted = sum * rows[2 * token + entry];
                assert!((value - wanted).abs() < 1e-5, "{value} is not {wanted}");
            }
        }
    }
}

#[test]
fn a_map_with_another_number_of_elements_than_rows_fails_with_both_numbers() {
    let map = Map {
        tokens: 2,
        experts: 2,
        chosen: vec![true, true, true, false],
    };
    let failure = permuted(&map, &[0.0; 4], &[0.0; 4], 2).attempt().err();
    let text = failure.unwrap().to_string();
    assert!(
        text.contains("true for 3 elements") && text.contains("2 rows"),
        "{text}"
    );
}
