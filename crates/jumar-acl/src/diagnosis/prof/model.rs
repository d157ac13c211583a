//! The operators of models, watched for timelines, for a profile, for a subscription and for dumps at once.

use std::sync::Arc;

use jumar::engine::now_ns;
use jumar::engine::sync::{AtomicU64, Ordering};
use jumar::offline::graph::{NodeObserver, Operand, Operands};
use jumar::offline::{Model, Observer};

use super::State;
use super::collect::{Operator, Session, Tensors};
use super::subscription::{Record, Subscription};
use crate::Cx;
use crate::generated::enums;

/// Returns the observer of a newly loaded model: for dumps, if there are any, for timelines, and for later profiles.
pub(crate) fn observer(
    cx: &Cx<'_>,
    model: &Model,
    id: u32,
    device: u32,
    dump: Option<Arc<dyn Observer>>,
) -> Arc<dyn Observer> {
    Arc::new(ProfiledModel {
        state: &cx.process.prof,
        dump,
        model: id,
        name: model.description().name.as_str().into(),
        device,
    })
}

struct ProfiledModel {
    state: &'static State,
    dump: Option<Arc<dyn Observer>>,
    model: u32,
    name: Arc<str>,
    device: u32,
}

impl Observer for ProfiledModel {
    fn begin(&self, stream: u32) -> Option<Box<dyn NodeObserver>> {
        let dump = self.dump.as_ref().and_then(|dump| dump.begin(stream));
        let timelines = jumar::trace_operators(self.device, stream);
        let (mut session, mut subscription) = (None, None);
        if self.state.watches_operators.load(Ordering::Relaxed) {
            session = self
                .state
                .session()
                .filter(|session| session.switches.has_tasks() && session.covers(self.device));
            subscription = self.state.subscriptions.of(self.model);
        }
        if session.is_none() && subscription.is_none() && timelines.is_none() {
            return dump;
        }
        Some(Box::new(Execution {
            dump,
            timelines,
            session,
            subscription,
            model: self.model,
            name: self.name.clone(),
            device: self.device,
            stream,
            begin_ns: AtomicU64::new(now_ns()),
            number: AtomicU64::new(0),
        }))
    }
}

/// One execution. Its operators run one after the other.
struct Execution {
    dump: Option<Box<dyn NodeObserver>>,
    timelines: Option<Box<dyn NodeObserver>>,
    session: Option<Arc<Session>>,
    subscription: Option<Arc<Subscription>>,
    model: u32,
    name: Arc<str>,
    device: u32,
    stream: u32,
    begin_ns: AtomicU64,
    number: AtomicU64,
}

fn tensors<'a>(operands: impl Iterator<Item = &'a Operand>) -> Tensors {
    let mut tensors = Tensors::default();
    for (at, operand) in operands.enumerate() {
        if at > 0 {
            for list in [
                &mut tensors.shapes,
                &mut tensors.types,
                &mut tensors.formats,
            ] {
                list.push(';');
            }
        }
        let dims = operand.layout().shape().iter().map(ToString::to_string);
        tensors.shapes += &dims.collect::<Vec<_>>().join(",");
        let name = enums::name_of("aclDataType", i64::from(operand.dtype().acl()));
        tensors.types += name.unwrap_or("UNDEFINED").trim_start_matches("ACL_");
        tensors.formats += "ND";
    }
    tensors
}

impl NodeObserver for Execution {
    fn starts(&self, inputs: &[Option<Operand>], memory: &Operands<'_>) {
        if let Some(dump) = &self.dump {
            dump.starts(inputs, memory);
        }
        if let Some(timelines) = &self.timelines {
            timelines.starts(inputs, memory);
        }
        self.begin_ns.store(now_ns(), Ordering::Relaxed);
    }

    fn ran(
        &self,
        name: &str,
        operator: &str,
        inputs: &[Option<Operand>],
        outputs: &[Operand],
        memory: &Operands<'_>,
    ) {
        let end_ns = now_ns();
        if let Some(timelines) = &self.timelines {
            timelines.ran(name, operator, inputs, outputs, memory);
        }
        let start_ns = self.begin_ns.load(Ordering::Relaxed).min(end_ns);
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        if let Some(subscription) = &self.subscription {
            subscription.report(&Record {
                model: self.model,
                start_ns,
                end_ns,
                name,
                operator,
            });
        }
        if let Some(session) = &self.session {
            session.add_operator(Operator {
                device: self.device,
                stream: self.stream,
                model: self.model,
                model_name: self.name.clone(),
                number,
                name: name.into(),
                operator: operator.into(),
                start_ns,
                end_ns,
                inputs: tensors(inputs.iter().flatten()),
                outputs: tensors(outputs.iter()),
            });
        }
        if let Some(dump) = &self.dump {
            dump.ran(name, operator, inputs, outputs, memory);
        }
    }
}
