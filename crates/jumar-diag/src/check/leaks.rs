//! What is alive when the process ends, without what a framework created for itself.

use std::collections::BTreeMap;

use super::{Allocation, Check, Finding, Line, Object};

impl Check {
    /// Reports what is alive at the end, grouped by kind and source location: `rule` for each of `kinds`.
    pub fn leaks(&self, kind: &'static str, rule: &'static str, fix: &str) {
        if !self.wants(rule) {
            return;
        }
        let mut groups: BTreeMap<(usize, &'static str), (u64, Object)> = BTreeMap::new();
        let alive = self.alive(kind).into_iter();
        for (_, object) in alive.filter(|(_, object)| !self.is_of_framework(object.made)) {
            let key = (self.state().locations.key(object.made), object.made_by);
            groups.entry(key).or_insert((0, object)).0 += 1;
        }
        for (count, object) in groups.into_values() {
            let what = match count {
                1 => format!("{} ({}) is never given back", object.name(), object.made_by),
                _ => format!(
                    "{count} of kind \"{kind}\" ({}) are never given back",
                    object.made_by
                ),
            };
            self.find(Finding {
                rule,
                lines: vec![Line {
                    label: "made",
                    location: object.made,
                    text: what,
                }],
                missing: None,
                fix: Some(fix.to_owned()),
            });
        }
    }

    /// Reports allocations that are alive at the end, grouped by source location.
    pub fn memory_leaks(&self, device_rule: &'static str, host_rule: &'static str) {
        let mut groups: BTreeMap<(usize, bool), (u64, u64, Allocation)> = BTreeMap::new();
        let alive = self.allocations().into_iter();
        for allocation in alive.filter(|allocation| !self.is_of_framework(allocation.made)) {
            let key = (
                self.state().locations.key(allocation.made),
                allocation.device.is_some(),
            );
            let group = groups.entry(key).or_insert((0, 0, allocation.clone()));
            group.0 += 1;
            group.1 += allocation.asked as u64;
        }
        for (count, bytes, allocation) in groups.into_values() {
            let rule = match allocation.device {
                Some(_) => device_rule,
                None => host_rule,
            };
            let times = match count {
                1 => allocation.name(),
                _ => format!("{count} allocations"),
            };
            self.find(Finding {
                rule,
                lines: vec![Line {
                    label: "made",
                    location: allocation.made,
                    text: format!("{times} of {bytes} bytes together, never freed"),
                }],
                missing: None,
                fix: None,
            });
        }
    }
}
