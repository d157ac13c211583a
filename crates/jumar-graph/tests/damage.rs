//! A short walk through the fuzz targets; `cargo xtask ci --long` goes much further.

mod targets;

use targets::{ALL, Random};

#[test]
fn whatever_comes_is_answered() {
    for target in ALL {
        println!("{}", target.name);
        let seeds = (target.seeds)();
        for seed in &seeds {
            (target.run)(seed);
        }
        let mut random = Random::new(1);
        for _ in 0..150 {
            (target.run)(&random.case(&seeds));
        }
    }
}
