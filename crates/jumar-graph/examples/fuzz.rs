//! `fuzz TARGET SECONDS [FIRST] [SEED_FOLDER]`: passes damaged input to a target until the time is over. Input that causes a panic or takes too long is named.
//!
//! Memory is bounded by the caller (`ulimit -v`): a case that allocates more than that ends the program. The number of the case is
//! in the file `fuzz-TARGET.case` of the current folder, and `fuzz TARGET 0 NUMBER` runs it alone.

#[path = "../tests/targets/mod.rs"]
mod targets;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use std::{fs, panic, process, thread};

use targets::{ALL, Random};

/// No case may take longer.
const LIMIT: Duration = Duration::from_secs(20);

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| arguments.get(at).and_then(|text| text.parse::<u64>().ok());
    let name = arguments.first().map_or("", String::as_str);
    let (Some(target), Some(seconds)) = (ALL.iter().find(|one| one.name == name), number(1)) else {
        let names: Vec<&str> = ALL.iter().map(|target| target.name).collect();
        eprintln!(
            "usage: fuzz {} SECONDS [FIRST] [SEED_FOLDER]",
            names.join("|")
        );
        process::exit(2);
    };
    let mut seeds = (target.seeds)();
    if let Some(folder) = arguments.get(3) {
        let mut found: Vec<_> = fs::read_dir(folder)
            .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
            .unwrap_or_default();
        found.sort();
        seeds.extend(found.iter().filter_map(|path| fs::read(path).ok()));
    }
    let first = number(2).unwrap_or(1);
    let case = Arc::new(AtomicU64::new(first));
    let (observed, began) = (case.clone(), Instant::now());
    thread::spawn(move || {
        let mut last = (observed.load(Ordering::Relaxed), Instant::now());
        loop {
            thread::sleep(Duration::from_millis(200));
            let now = observed.load(Ordering::Relaxed);
            if now != last.0 {
                last = (now, Instant::now());
            } else if last.1.elapsed() > LIMIT {
                eprintln!("case {now} takes more than {LIMIT:?}");
                process::exit(1);
            }
        }
    });
    let case_file = format!("fuzz-{name}.case");
    loop {
        let now = case.load(Ordering::Relaxed);
        let _ = fs::write(&case_file, now.to_string());
        let bytes = Random::new(now).case(&seeds);
        if panic::catch_unwind(|| (target.run)(&bytes)).is_err() {
            let _ = fs::write(format!("fuzz-{name}-{now}.found"), &bytes);
            eprintln!("case {now} panics; it is in fuzz-{name}-{now}.found");
            process::exit(1);
        }
        if began.elapsed().as_secs() >= seconds {
            break;
        }
        case.fetch_add(1, Ordering::Relaxed);
    }
    let _ = fs::remove_file(&case_file);
    println!(
        "{name}: {} cases from {} seeds",
        case.load(Ordering::Relaxed) - first + 1,
        seeds.len()
    );
}
