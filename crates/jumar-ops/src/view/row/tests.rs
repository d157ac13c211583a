use super::*;

#[test]
fn copies_past_the_caches_copy_rows_of_any_alignment_and_step() {
    let from: Vec<u16> = (0..64).collect();
    for (start, len, step) in [(0, 32, 1), (1, 32, 1), (0, 7, 1), (3, 9, 2), (0, 0, 1)] {
        let mut to = vec![0u16; 64];
        let past = PastCaches::default();
        let target = RowMut::of(&mut to).stepped(start, len, step);
        target.copy_past_caches(Row::of(&from).slice(5, len), &past);
        drop(past);
        let found: Vec<u16> = (0..len).map(|at| to[start + at * step]).collect();
        assert_eq!(found, from[5..5 + len]);
        assert_eq!(to.iter().filter(|&&value| value != 0).count(), len);
    }
}

#[test]
fn folds_and_maps_agree_with_loops_of_any_length_alignment_and_step() {
    let values: Vec<f32> = (0..1200).map(|at| (at * 37 % 101) as f32 - 50.0).collect();
    for (start, len, step) in [
        (0, 1100, 1),
        (1, 1099, 1),
        (4, 256, 1),
        (0, 7, 1),
        (3, 390, 3),
        (0, 0, 1),
    ] {
        let from = Row::of(&values).stepped(start, len, step);
        // What is asked for may lie anywhere.
        let ahead = (start == 0).then(|| Row::of(&values).slice(1199, 1));
        let each: Vec<f32> = (0..len).map(|at| values[start + at * step]).collect();
        let wanted: f32 = each.iter().sum();
        assert_eq!(from.fold_long(0.0, |a, b| a + b, |a, b| a + b), wanted);
        let doubled: Vec<f32> = each.iter().map(|value| value * 2.0).collect();
        let mut to = vec![0f32; 1200];
        let check = |to: &[f32]| {
            let found: Vec<f32> = (0..len).map(|at| to[start + at * step]).collect();
            assert_eq!(found, doubled);
        };
        let target = RowMut::of(&mut to).stepped(start, len, step);
        let add = |a: f32, b: f32| a + b;
        let sum = target.map1_folding(from, ahead, |value| value * 2.0, 0.0, add, add);
        assert_eq!(sum, wanted * 2.0);
        check(&to);
        to.fill(0.0);
        let past = PastCaches::default();
        let target = RowMut::of(&mut to).stepped(start, len, step);
        target.map1_past_caches(from, &past, |value| value * 2.0);
        drop(past);
        check(&to);
        for past in [None, Some(PastCaches::default())] {
            to.fill(0.0);
            let target = RowMut::of(&mut to).stepped(start, len, step);
            target.map3([from; 3], ahead, past.as_ref(), |a, b, c| a + b * 2.0 - c);
            drop(past);
            check(&to);
        }
    }
}

#[test]
fn strides_of_either_sign_stay_inside_the_row() {
    let values: Vec<u16> = (0..20).collect();
    let taken = |row: Row<'_, u16>| (0..row.len()).map(|at| row.get(at)).collect::<Vec<_>>();
    let row = Row::of(&values);
    assert_eq!(taken(row.strided(2, 4, 5)), [2, 7, 12, 17]);
    assert_eq!(taken(row.strided(19, 3, -9)), [19, 10, 1]);
    assert_eq!(taken(row.strided(4, 3, 0)), [4, 4, 4]);
    assert!(row.strided(100, 0, 1).is_empty());
    let odd = row.stepped(1, 10, 2);
    assert_eq!(taken(odd.strided(9, 4, -3)), [19, 13, 7, 1]);
    for (start, len, step) in [
        (20, 1, 1),
        (2, 5, 5),
        (8, 3, -5),
        (0, 3, isize::MAX),
        (usize::MAX, 2, 1),
    ] {
        let taken = std::panic::catch_unwind(|| Row::of(&values).strided(start, len, step).len());
        assert!(taken.is_err(), "{len} from {start} on by {step}");
    }
}

#[test]
fn groups_begin_a_stride_after_each_other() {
    let values: Vec<u16> = (0..20).collect();
    let row = |step| Row::of(&values).stepped(0, 20 / step, step);
    assert_eq!(
        row(1).slice(1, 18).groups(4, 6),
        [[5, 6], [11, 12], [17, 18]]
    );
    for (start, stride, step) in [(4, 8, 1), (19, 0, 1), (0, usize::MAX, 1), (0, 2, 2)] {
        let read = || row(step).groups::<2, 3>(start, stride);
        assert!(std::panic::catch_unwind(read).is_err(), "{start} {stride}");
    }
}

#[test]
#[should_panic(expected = "rows of 2 and 3 elements")]
fn copies_past_the_caches_refuse_another_length() {
    let mut to = [0u8; 2];
    RowMut::of(&mut to).copy_past_caches(Row::of(&[0u8; 3]), &PastCaches::default());
}

#[test]
fn each_element_counts_in_the_largest() {
    for len in 1..100 {
        for at in 0..len {
            let mut row = vec![0.0f32; len];
            row[at] = 1.0;
            let row = Row::of(&row);
            assert_eq!(row.fold_wide(0.0, f32::max, f32::max), 1.0, "{at} of {len}");
            assert_eq!(row.fold_long(0.0, f32::max, f32::max), 1.0, "{at} of {len}");
        }
    }
}

#[test]
fn a_repeated_row_begins_anew_wherever_it_ends() {
    let values: Vec<f32> = (0..300).map(|at| (at * 37 % 101) as f32).collect();
    for period in [1, 2, 4, 8, 16] {
        for (len, step) in [(0, 1), (5, 1), (16, 1), (83, 1), (50, 3)] {
            let one = Row::of(&values).stepped(2, len, step);
            let repeated = Row::of(&values).slice(200, period);
            let mut to = vec![0f32; 300];
            let target = RowMut::of(&mut to).stepped(1, len, step);
            target.map2_repeated(one, repeated, |a, b| a - 2.0 * b);
            let found: Vec<f32> = (0..len).map(|at| to[1 + at * step]).collect();
            let wanted: Vec<f32> = (0..len)
                .map(|at| values[2 + at * step] - 2.0 * values[200 + at % period])
                .collect();
            assert_eq!(found, wanted, "{len} by {step}, period {period}");
        }
    }
}

#[test]
#[should_panic(expected = "16")]
fn a_repeated_row_that_does_not_divide_a_group_is_refused() {
    let mut to = [0f32; 6];
    let (one, repeated) = ([1f32; 6], [1f32; 3]);
    RowMut::of(&mut to).map2_repeated(Row::of(&one), Row::of(&repeated), |a, b| a + b);
}
