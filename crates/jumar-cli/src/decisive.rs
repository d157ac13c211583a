//! Two tasks whose order decides how a program ends.
//!
//! Two runs that end differently took turns in two orders. An order that begins as the one and continues as the other lies between
//! them. A first search moves that border until a single further turn changes the end of the program; a second one moves this turn past
//! single other turns until it passes the one that matters. Each step is one run.

use std::collections::{HashMap, HashSet};

use anyhow::Result;
use serde_json::Value;

/// A task: the number of its stream, and how many tasks of the stream began before.
pub(crate) type StreamTask = (u32, usize);

/// A queued operation, as the record of a run describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Task {
    call: String,
    at: String,
    does: String,
}

/// What a run recorded.
#[derive(Clone, Debug, Default)]
pub(crate) struct Record {
    turns: Vec<StreamTask>,
    tasks: HashMap<StreamTask, Task>,
}

impl Record {
    /// Reads the lines of a record.
    pub(crate) fn of(text: &str) -> Record {
        let mut record = Record::default();
        let mut queued: HashMap<u64, (u32, Task)> = HashMap::new();
        let mut taken: HashMap<u32, usize> = HashMap::new();
        for line in text.lines() {
            let Some((word, rest)) = line.split_once(' ') else {
                continue;
            };
            match word {
                "start" => {
                    let number = rest.parse().ok();
                    let Some((stream, task)) = number.and_then(|number| queued.remove(&number))
                    else {
                        continue;
                    };
                    let count = taken.entry(stream).or_default();
                    record.turns.push((stream, *count));
                    record.tasks.insert((stream, *count), task);
                    *count += 1;
                }
                "task" => {
                    let Ok(value) = serde_json::from_str::<Value>(rest) else {
                        continue;
                    };
                    let text = |key: &str| value[key].as_str().unwrap_or_default().to_owned();
                    let stream = value["stream"]
                        .as_u64()
                        .and_then(|one| u32::try_from(one).ok());
                    if let (Some(number), Some(stream)) = (value["task"].as_u64(), stream) {
                        let task = Task {
                            call: text("call"),
                            at: text("at"),
                            does: text("does"),
                        };
                        queued.insert(number, (stream, task));
                    }
                }
                _ => {}
            }
        }
        record
    }

    /// Returns how many turns there were.
    pub(crate) fn len(&self) -> usize {
        self.turns.len()
    }
}

/// One run: how it ended, and its record.
pub(crate) struct Run {
    pub(crate) end: String,
    pub(crate) record: Record,
}

/// Two turns of two streams. If the first one comes first the program ends in one way, otherwise in another one.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Pair {
    turns: [StreamTask; 2],
    tasks: [Option<Task>; 2],
    ends: [String; 2],
}

/// Finds two turns whose order decides whether the program ends as in the run `one` or otherwise, as in the run `other`. `None`: the
/// end does not depend on the order of turns alone.
///
/// # Errors
/// Those of `run`, which runs the program with turns in an order.
pub(crate) fn pair(
    one: &Run,
    other: &Run,
    mut run: impl FnMut(&[StreamTask]) -> Result<Run>,
) -> Result<Option<Pair>> {
    let (first, second) = (&one.record.turns, &other.record.turns);
    let is_repeated = run(first)?.end == one.end && run(second)?.end == other.end;
    if !is_repeated || one.end == other.end {
        return Ok(None);
    }
    let without = |taken: &[StreamTask]| -> Vec<StreamTask> {
        let taken: HashSet<&StreamTask> = taken.iter().collect();
        let rest = second.iter().filter(|turn| !taken.contains(turn));
        rest.copied().collect()
    };
    // So many turns of the first order: with `least` the end is another one, with `most` it is that of the first run.
    let (mut least, mut most) = (0, first.len());
    while most - least > 1 {
        let middle = least + (most - least) / 2;
        let order = [&first[..middle], &without(&first[..middle])].concat();
        match run(&order)?.end == one.end {
            true => most = middle,
            false => least = middle,
        }
    }
    let Some(&moved) = first.get(least) else {
        return Ok(None);
    };
    let begin = &first[..least];
    let rest = without(begin);
    let passed: Vec<StreamTask> = rest
        .iter()
        .copied()
        .take_while(|turn| *turn != moved)
        .collect();
    let behind: Vec<StreamTask> = rest
        .iter()
        .copied()
        .skip(passed.len())
        .filter(|turn| *turn != moved)
        .collect();
    // So many turns stand in front of the moved one: with `least` the end is that of the first run, with `most` another one.
    let (mut least, mut most) = (0, passed.len());
    let mut end = other.end.clone();
    while most - least > 1 {
        let middle = least + (most - least) / 2;
        let order = [
            begin,
            &passed[..middle],
            &[moved],
            &passed[middle..],
            &behind,
        ]
        .concat();
        let ended = run(&order)?.end;
        match ended == one.end {
            true => least = middle,
            false => {
                most = middle;
                end = ended;
            }
        }
    }
    let Some(&overtaken) = passed.get(least).filter(|turn| turn.0 != moved.0) else {
        return Ok(None);
    };
    let task = |turn: &StreamTask| {
        let records = [&one.record, &other.record];
        records
            .into_iter()
            .find_map(|record| record.tasks.get(turn).cloned())
    };
    Ok(Some(Pair {
        turns: [moved, overtaken],
        tasks: [task(&moved), task(&overtaken)],
        ends: [one.end.clone(), end],
    }))
}

impl Pair {
    /// Writes the pair for people.
    pub(crate) fn text(&self) -> String {
        let mut text =
            String::from("The outcome depends on the order of two tasks, which nothing orders:\n");
        for (turn, task) in self.turns.iter().zip(&self.tasks) {
            let stream = format!("stream#{}", turn.0);
            let Task { call, at, does } = task.clone().unwrap_or_default();
            let does = match does.as_str() {
                "" => format!("task {} of the stream", turn.1 + 1),
                does => format!("{call}: {does}"),
            };
            text.push_str(&format!("  {stream:<9}{at}\n           {does}\n"));
        }
        text.push_str(&format!("  in this order:     {}\n", self.ends[0]));
        text.push_str(&format!("  the other way:     {}\n", self.ends[1]));
        text.push_str(
            "  fix      record an event behind the task that has to come first, and let the other stream wait for it before its task\n",
        );
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A program of streams with so many tasks each. A stream's tasks run in their order, whatever order is asked for.
    struct Program {
        tasks: Vec<usize>,
        end: fn(&[StreamTask]) -> String,
        runs: usize,
    }

    impl Program {
        fn run(&mut self, wanted: &[StreamTask]) -> Run {
            self.runs += 1;
            let mut next = vec![0; self.tasks.len()];
            let mut turns = Vec::new();
            let rank = |turn: StreamTask| wanted.iter().position(|one| *one == turn);
            let total: usize = self.tasks.iter().sum();
            while turns.len() < total {
                let runnable = (0..next.len()).filter(|stream| next[*stream] < self.tasks[*stream]);
                let chosen = runnable
                    .min_by_key(|stream| {
                        rank((*stream as u32, next[*stream])).unwrap_or(usize::MAX)
                    })
                    .expect("a task is left");
                turns.push((chosen as u32, next[chosen]));
                next[chosen] += 1;
            }
            Run {
                end: (self.end)(&turns),
                record: Record {
                    turns,
                    tasks: HashMap::new(),
                },
            }
        }
    }

    fn at(turns: &[StreamTask], turn: StreamTask) -> usize {
        turns.iter().position(|one| *one == turn).expect("it ran")
    }

    #[test]
    fn the_pair_is_found_among_many_turns_in_a_few_runs() {
        let mut program = Program {
            tasks: vec![60, 60, 60],
            end: |turns| (at(turns, (0, 41)) < at(turns, (2, 17))).to_string(),
            runs: 0,
        };
        let zeroes_first: Vec<StreamTask> = (0..60).map(|turn| (0, turn)).collect();
        let twos_first: Vec<StreamTask> = (0..60).map(|turn| (2, turn)).collect();
        let (one, other) = (program.run(&zeroes_first), program.run(&twos_first));
        let found = pair(&one, &other, |order| Ok(program.run(order))).expect("no error");
        let found = found.expect("a pair");
        assert_eq!(found.turns, [(0, 41), (2, 17)]);
        assert_eq!(found.ends, ["true", "false"]);
        assert!(program.runs < 24, "{} runs", program.runs);
        let back = pair(&other, &one, |order| Ok(program.run(order))).expect("no error");
        assert_eq!(back.expect("a pair").turns, [(2, 17), (0, 41)]);
    }

    #[test]
    fn a_program_whose_end_changes_by_itself_has_no_pair() {
        let mut program = Program {
            tasks: vec![3, 3],
            end: |_| "end".to_owned(),
            runs: 0,
        };
        let one = program.run(&[(0, 0)]);
        let mut other = program.run(&[(1, 0)]);
        other.end = "another end".to_owned();
        let found = pair(&one, &other, |order| Ok(program.run(order))).expect("no error");
        assert_eq!(found, None);
    }

    #[test]
    fn a_record_names_the_task_of_each_turn() {
        let record = Record::of(
            "task {\"task\":1,\"stream\":3,\"call\":\"f\",\"at\":\"a.c:2  main\",\"does\":\"fills it\"}\n\
             task {\"task\":2,\"stream\":3,\"call\":\"g\",\"at\":\"a.c:3  main\",\"does\":\"runs k\"}\n\
             start 1\nstart 7\nstart 2\n",
        );
        assert_eq!(record.turns, [(3, 0), (3, 1)]);
        assert_eq!(record.tasks[&(3, 0)].does, "fills it");
        assert_eq!(record.tasks[&(3, 1)].call, "g");
    }
}
