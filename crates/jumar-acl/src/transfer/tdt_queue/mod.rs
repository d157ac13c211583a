//! Queues of data by number, their attributes, and connections between them.
//!
//! Buffers with a header (`acltdtBuf`) are the device's: on a host every call about them is refused. Connections move messages on the
//! threads that enqueue or dequeue one; there is no thread for it.

mod buffers;

pub use buffers::*;

use std::collections::{BTreeMap, VecDeque};
use std::ffi::{CStr, CString};
use std::sync::Arc;
use std::time::Duration;

use jumar::engine::message::{Message, MessageQueue, forward};
use jumar::engine::sync::Mutex;
use jumar::engine::{Span, Table};
use jumar_types::{Error, ErrorKind, IdKind, Result};

use crate::error::null;
use crate::generated::enums;
use crate::mbuf::USER_BYTES;
use crate::queue_driven::QueueDrivenModel;
use crate::tdt_channel::{CAPACITIES, limit};
use crate::{Cx, Raw, refuse};

/// The default depth of a queue.
const DEPTH: u32 = 8;
/// The longest name of a queue.
const LONGEST_NAME: usize = 127;

/// What a process has of queues.
pub(crate) struct Queues {
    attributes: Table<Attributes>,
    routes: Table<RouteObject>,
    lists: Table<RouteList>,
    questions: Table<Question>,
    numbered: Mutex<QueueTable>,
}

#[derive(Default)]
struct QueueTable {
    next: u32,
    queues: BTreeMap<u32, Arc<MessageQueue>>,
    /// The targets of each queue that has some.
    routes: BTreeMap<u32, Vec<u32>>,
    /// The models that take messages and give some.
    queue_driven: Vec<Entry>,
}

/// A model among queues.
struct Entry {
    queue_driven: Arc<QueueDrivenModel>,
    /// A thread executes it.
    busy: bool,
    /// What was taken for the next execution, which waits for the other inputs.
    taken: Vec<Option<Message>>,
    /// Outputs of an execution that did not fit into their queues yet, with their queue.
    given: VecDeque<(u32, Message)>,
    /// Why an execution failed, until a call reports it.
    failed: Option<Error>,
}

/// Attributes for a queue.
struct Attributes {
    id: u64,
    content: Mutex<Content>,
}

struct Content {
    /// Every name that was set, the last one in force: a program may hold the address of an earlier one.
    names: Vec<CString>,
    depth: u32,
}

#[derive(Clone, Copy)]
struct Route {
    from: u32,
    to: u32,
    status: i32,
}

struct RouteObject {
    id: u64,
    content: Mutex<Route>,
}

struct RouteList {
    id: u64,
    content: Mutex<Vec<Route>>,
}

struct Question {
    id: u64,
    content: Mutex<RouteQuery>,
}

#[derive(Clone, Copy, Default)]
struct RouteQuery {
    mode: Option<u32>,
    from: Option<u32>,
    to: Option<u32>,
}

impl Default for Queues {
    fn default() -> Self {
        Queues {
            attributes: Table::new(IdKind::QueueAttr, Arc::default()),
            routes: Table::new(IdKind::QueueRoute, Arc::default()),
            lists: Table::new(IdKind::QueueRouteList, Arc::default()),
            questions: Table::new(IdKind::QueueRouteQuery, Arc::default()),
            numbered: Mutex::default(),
        }
    }
}

impl Queues {
    /// Returns the queue of a channel a number, unless it has one.
    pub(crate) fn adopt(&self, _device: u32, queue: &Arc<MessageQueue>) {
        let mut numbered = self.numbered.lock();
        let known = |other: &Arc<MessageQueue>| Arc::ptr_eq(other, queue);
        if !numbered.queues.values().any(known) {
            numbered.add(queue.clone());
        }
    }

    /// Has a model take its inputs from queues and leave its outputs in others.
    ///
    /// # Errors
    /// `ModelQueue`: there is no such queue.
    pub(crate) fn drive(
        &self,
        queue_driven: QueueDrivenModel,
    ) -> std::result::Result<(), (Error, QueueDrivenModel)> {
        let mut numbered = self.numbered.lock();
        let unknown = queue_driven
            .inputs
            .iter()
            .chain(&queue_driven.outputs)
            .find(|queue| !numbered.queues.contains_key(queue));
        if let Some(queue) = unknown {
            let error = Error::new(
                ErrorKind::ModelQueue,
                format!("there is no queue {queue} to drive a model"),
            );
            return Err((error, queue_driven));
        }
        let taken = vec![None; queue_driven.inputs.len()];
        numbered.queue_driven.push(Entry {
            queue_driven: Arc::new(queue_driven),
            busy: false,
            taken,
            given: VecDeque::new(),
            failed: None,
        });
        Ok(())
    }

    /// Has the queues forget a model. Returns what drove it.
    pub(crate) fn release(&self, model: u32) -> Option<Arc<QueueDrivenModel>> {
        let mut numbered = self.numbered.lock();
        let at = numbered
            .queue_driven
            .iter()
            .position(|entry| entry.queue_driven.model == model)?;
        Some(numbered.queue_driven.remove(at).queue_driven)
    }

    /// Takes the number of a channel's queue away.
    pub(crate) fn drop_adopted(&self, queue: &Arc<MessageQueue>) {
        let mut numbered = self.numbered.lock();
        numbered
            .queues
            .retain(|_, other| !Arc::ptr_eq(other, queue));
        let QueueTable { queues, routes, .. } = &mut *numbered;
        routes.retain(|from, targets| {
            targets.retain(|to| queues.contains_key(to));
            queues.contains_key(from) && !targets.is_empty()
        });
    }
}

impl QueueTable {
    fn add(&mut self, queue: Arc<MessageQueue>) -> u32 {
        let number = self.next;
        self.next = self.next.wrapping_add(1);
        self.queues.insert(number, queue);
        number
    }

    fn is_routed(&self, queue: u32) -> bool {
        self.routes
            .iter()
            .any(|(from, targets)| *from == queue || targets.contains(&queue))
    }

    fn is_driving(&self, queue: u32) -> bool {
        self.queue_driven.iter().any(|entry| {
            entry.queue_driven.inputs.contains(&queue)
                || entry.queue_driven.outputs.contains(&queue)
        })
    }

    /// Finds a model that can be executed, and takes its messages.
    fn next(&mut self) -> Option<(Arc<QueueDrivenModel>, Vec<Message>)> {
        let QueueTable {
            queues,
            queue_driven,
            ..
        } = self;
        for entry in queue_driven.iter_mut().filter(|entry| !entry.busy) {
            let has_capacity = |queue: &u32| {
                let queue = queues.get(queue);
                queue.is_some_and(|queue| queue.len() < queue.capacity())
            };
            while let Some((queue, message)) = entry.given.front() {
                let put = queues
                    .get(queue)
                    .map(|queue| queue.put(message.clone(), Some(Duration::ZERO)));
                if !matches!(put, Some(Ok(()))) {
                    break;
                }
                entry.given.pop_front();
            }
            if !entry.given.is_empty() || !entry.queue_driven.outputs.iter().all(has_capacity) {
                continue;
            }
            for (message, queue) in entry.taken.iter_mut().zip(&entry.queue_driven.inputs) {
                if message.is_none() {
                    let queue = queues.get(queue);
                    *message = queue.and_then(|queue| queue.take(Some(Duration::ZERO)).ok());
                }
            }
            if entry.taken.iter().all(Option::is_some) {
                entry.busy = true;
                let messages = entry.taken.iter_mut().filter_map(Option::take).collect();
                return Some((entry.queue_driven.clone(), messages));
            }
        }
        None
    }

    /// Whether messages of `from` can come to `to`.
    fn reaches(&self, from: u32, to: u32) -> bool {
        let mut seen = vec![from];
        let mut at = 0;
        while let Some(&next) = seen.get(at) {
            if next == to {
                return true;
            }
            at += 1;
            for &target in self.routes.get(&next).into_iter().flatten() {
                if !seen.contains(&target) {
                    seen.push(target);
                }
            }
        }
        false
    }

    /// Moves messages along the connections until nothing moves. Routes form no circle, so that this ends.
    fn flow(&self) {
        while self.routes.iter().any(|(from, targets)| {
            let targets: Vec<&MessageQueue> = targets
                .iter()
                .filter_map(|to| self.queues.get(to).map(Arc::as_ref))
                .collect();
            self.queues
                .get(from)
                .is_some_and(|from| forward(from, &targets))
        }) {}
    }
}

pub fn acltdtCreateQueue(cx: &Cx<'_>, attributes: Raw) -> Result<u32> {
    let depth = if attributes.is_null() {
        DEPTH
    } else {
        let found = cx.process.queues.attributes.get(attributes.0)?;
        found.content.lock().depth
    };
    cx.context()?;
    if !CAPACITIES.contains(&(depth as usize)) {
        return refuse(
            ErrorKind::InvalidValue,
            format!("the depth is {depth}; it must be from 2 to 8192"),
        );
    }
    let queue = Arc::new(MessageQueue::new(depth as usize));
    Ok(cx.process.queues.numbered.lock().add(queue))
}

fn unknown(queue: u32) -> Error {
    Error::new(
        ErrorKind::InvalidValue,
        format!("there is no queue {queue}"),
    )
    .fix("Pass the number that acltdtCreateQueue gave, while the queue is there.")
}

pub fn acltdtDestroyQueue(cx: &Cx<'_>, queue: u32) -> Result<()> {
    cx.context()?;
    let mut numbered = cx.process.queues.numbered.lock();
    if !numbered.queues.contains_key(&queue) {
        return Err(unknown(queue));
    }
    if numbered.is_routed(queue) {
        return refuse(
            ErrorKind::Failure,
            format!("queue {queue} is connected to others; unbind its routes first"),
        );
    }
    if numbered.is_driving(queue) {
        return refuse(
            ErrorKind::Failure,
            format!("queue {queue} drives a model; unload the model first"),
        );
    }
    let gone = numbered.queues.remove(&queue);
    drop(numbered);
    if let Some(gone) = gone {
        // A thread that waits for it would wait forever.
        gone.stop();
    }
    Ok(())
}

fn find(cx: &Cx<'_>, queue: u32) -> Result<Arc<MessageQueue>> {
    let numbered = cx.process.queues.numbered.lock();
    let found = numbered.queues.get(&queue).cloned();
    found.ok_or_else(|| unknown(queue))
}

/// Moves messages along connections and through models until nothing moves.
fn flow(cx: &Cx<'_>) {
    loop {
        let next = {
            let mut numbered = cx.process.queues.numbered.lock();
            if !numbered.routes.is_empty() {
                numbered.flow();
            }
            numbered.next()
        };
        let Some((queue_driven, messages)) = next else {
            return;
        };
        let ran = queue_driven.run(cx, &messages);
        let mut numbered = cx.process.queues.numbered.lock();
        // It is not there any more when the model was unloaded meanwhile.
        let entry = numbered
            .queue_driven
            .iter_mut()
            .find(|entry| Arc::ptr_eq(&entry.queue_driven, &queue_driven));
        if let Some(entry) = entry {
            entry.busy = false;
            match ran {
                Ok(given) => entry
                    .given
                    .extend(queue_driven.outputs.iter().copied().zip(given)),
                Err(error) => entry.failed = Some(error),
            }
        }
    }
}

/// Returns the failure of an execution that was not reported yet.
fn failure(cx: &Cx<'_>) -> Result<()> {
    let mut numbered = cx.process.queues.numbered.lock();
    let failed = numbered
        .queue_driven
        .iter_mut()
        .find_map(|entry| entry.failed.take());
    failed.map_or(Ok(()), Err)
}

#[expect(
    clippy::too_many_arguments,
    reason = "the C interface sets the arguments"
)]
pub fn acltdtEnqueueData(
    cx: &Cx<'_>,
    queue: u32,
    data: Option<&[u8]>,
    size: usize,
    user: Option<&[u8]>,
    user_size: usize,
    timeout: i32,
    _reserved: u32,
) -> Result<()> {
    let data = match data {
        Some(data) if size > 0 => data,
        _ => {
            return refuse(ErrorKind::InvalidArgument, "data is null, or its size is 0");
        }
    };
    cx.context()?;
    let limit = limit(timeout, ErrorKind::InvalidValue)?;
    if user_size > USER_BYTES {
        return refuse(
            ErrorKind::InvalidValue,
            format!("userData has {user_size} bytes; it may have at most {USER_BYTES}"),
        );
    }
    let message = Message {
        data: data.to_vec(),
        user: user.unwrap_or_default().to_vec(),
    };
    crate::message::polled(cx, timeout, find(cx, queue)?.put(message, limit))?;
    flow(cx);
    failure(cx)
}

/// Takes the oldest message into the program's memory. A message that cannot be written there stays in the queue. `report_size` gets the message's size before it is copied, also where it
/// turns out to be too large.
pub fn dequeue_data(
    cx: &Cx<'_>,
    queue: u32,
    data: Span,
    user: Span,
    timeout: i32,
    report_size: impl FnOnce(usize),
) -> Result<()> {
    if data.is_empty() {
        return refuse(ErrorKind::InvalidArgument, "data is null, or its size is 0");
    }
    cx.context()?;
    let limit = limit(timeout, ErrorKind::InvalidValue)?;
    let runtime = cx.runtime()?;
    let from = find(cx, queue)?;
    let message = from.take_if(limit, |message| {
        report_size(message.data.len());
        if message.data.len() <= data.bytes() {
            return Ok(());
        }
        refuse(
            ErrorKind::InvalidValue,
            format!(
                "the message of queue {queue} has {} bytes, but the buffer has only {}",
                message.data.len(),
                data.bytes()
            ),
        )
    });
    let message = crate::message::polled(cx, timeout, message)?;
    let user_size = message.user.len().min(user.bytes());
    let written = runtime
        .write(data, &message.data, &cx.caller())
        .and_then(|()| match user_size {
            0 => Ok(()),
            size => runtime.write(user, &message.user[..size], &cx.caller()),
        });
    if let Err(refused) = written {
        from.put_back(message);
        return Err(refused);
    }
    flow(cx);
    Ok(())
}

pub fn acltdtCreateQueueAttr(cx: &Cx<'_>) -> Result<Raw> {
    let made = cx.process.queues.attributes.insert(|id| {
        Arc::new(Attributes {
            id,
            content: Mutex::new(Content {
                names: vec![CString::default()],
                depth: DEPTH,
            }),
        })
    })?;
    Ok(Raw(made.id))
}

/// Takes an object out; null is refused.
fn destroy<T>(cx: &Cx<'_>, table: &Table<T>, handle: Raw, name: &str) -> Result<()> {
    if handle.is_null() {
        return Err(null(name));
    }
    table.remove(handle.0, cx.call.name).map(drop)
}

pub fn acltdtDestroyQueueAttr(cx: &Cx<'_>, attributes: Raw) -> Result<()> {
    destroy(cx, &cx.process.queues.attributes, attributes, "attr")
}

/// An attribute's value as a program passes it.
#[derive(Clone, Copy, Debug)]
pub enum QueueAttrValue<'a> {
    /// The text that the parameter leads to, `None` for null.
    Name(Option<&'a CStr>),
    /// The parameter's bytes, `None` for null.
    Bytes(Option<&'a [u8]>),
}

/// Reads a number of 32 bits.
fn number(bytes: Option<&[u8]>, length: usize, name: &str) -> Result<u32> {
    let bytes = bytes.ok_or_else(|| null(name))?;
    match <[u8; 4]>::try_from(bytes) {
        Ok(own) => Ok(u32::from_ne_bytes(own)),
        Err(_) => refuse(
            ErrorKind::InvalidArgument,
            format!("len is {length}; the value has 4 bytes"),
        ),
    }
}

/// `length` is what the program says of the parameter.
pub fn set_queue_attr(
    cx: &Cx<'_>,
    attributes: Raw,
    kind: u32,
    length: usize,
    value: QueueAttrValue<'_>,
) -> Result<()> {
    if attributes.is_null() {
        return Err(null("attr"));
    }
    let found = cx.process.queues.attributes.get(attributes.0)?;
    match (kind, value) {
        (enums::ACL_TDT_QUEUE_NAME_PTR, QueueAttrValue::Name(name)) => {
            let name = name.ok_or_else(|| null("param"))?;
            if length > size_of::<usize>() || name.count_bytes() > LONGEST_NAME {
                return refuse(
                    ErrorKind::InvalidArgument,
                    format!(
                        "len is {length} and the name has {} characters; a pointer has {} bytes, and a name at most {LONGEST_NAME} characters",
                        name.count_bytes(),
                        size_of::<usize>()
                    ),
                );
            }
            found.content.lock().names.push(name.to_owned());
            Ok(())
        }
        (enums::ACL_TDT_QUEUE_DEPTH_UINT32, QueueAttrValue::Bytes(bytes)) => {
            found.content.lock().depth = number(bytes, length, "param")?;
            Ok(())
        }
        _ => refuse(
            ErrorKind::InvalidArgument,
            crate::not_a_value("acltdtQueueAttrType", kind),
        ),
    }
}

/// The value, and its length; refused if the buffer is smaller.
fn returned_value(value: Vec<u8>, capacity: usize) -> Result<(usize, Vec<u8>)> {
    if capacity < value.len() {
        return refuse(
            ErrorKind::InvalidArgument,
            format!("len is {capacity}; the value has {} bytes", value.len()),
        );
    }
    Ok((value.len(), value))
}

pub fn acltdtGetQueueAttr(
    cx: &Cx<'_>,
    attributes: Raw,
    kind: u32,
    capacity: usize,
) -> Result<(usize, Vec<u8>)> {
    if attributes.is_null() {
        return Err(null("attr"));
    }
    let found = cx.process.queues.attributes.get(attributes.0)?;
    let content = found.content.lock();
    match kind {
        enums::ACL_TDT_QUEUE_NAME_PTR => {
            let name = content.names.last().map(|name| name.as_ptr());
            let address = name.map_or(0, |name| name.expose_provenance());
            returned_value(address.to_ne_bytes().to_vec(), capacity)
        }
        enums::ACL_TDT_QUEUE_DEPTH_UINT32 => {
            returned_value(content.depth.to_ne_bytes().to_vec(), capacity)
        }
        _ => refuse(
            ErrorKind::InvalidArgument,
            crate::not_a_value("acltdtQueueAttrType", kind),
        ),
    }
}

pub fn acltdtCreateQueueRoute(cx: &Cx<'_>, from: u32, to: u32) -> Result<Raw> {
    let made = cx.process.queues.routes.insert(|id| {
        Arc::new(RouteObject {
            id,
            content: Mutex::new(Route {
                from,
                to,
                status: UNBOUND,
            }),
        })
    })?;
    Ok(Raw(made.id))
}

const UNBOUND: i32 = enums::ACL_TDT_QUEUE_ROUTE_UNBIND;
const BOUND: i32 = enums::ACL_TDT_QUEUE_ROUTE_BIND;
const ABNORMAL: i32 = enums::ACL_TDT_QUEUE_ROUTE_BIND_ABNORMAL;

pub fn acltdtDestroyQueueRoute(cx: &Cx<'_>, route: Raw) -> Result<()> {
    destroy(cx, &cx.process.queues.routes, route, "route")
}

pub fn acltdtGetQueueRouteParam(
    cx: &Cx<'_>,
    route: Raw,
    kind: u32,
    capacity: usize,
) -> Result<(usize, Vec<u8>)> {
    if route.is_null() {
        return Err(null("route"));
    }
    let found = cx.process.queues.routes.get(route.0)?;
    let route = *found.content.lock();
    let bytes = match kind {
        enums::ACL_TDT_QUEUE_ROUTE_SRC_UINT32 => route.from.to_ne_bytes(),
        enums::ACL_TDT_QUEUE_ROUTE_DST_UINT32 => route.to.to_ne_bytes(),
        enums::ACL_TDT_QUEUE_ROUTE_STATUS_INT32 => route.status.to_ne_bytes(),
        _ => {
            return refuse(
                ErrorKind::InvalidArgument,
                crate::not_a_value("acltdtQueueRouteParamType", kind),
            );
        }
    };
    returned_value(bytes.to_vec(), capacity)
}

pub fn acltdtCreateQueueRouteList(cx: &Cx<'_>) -> Result<Raw> {
    let made = cx.process.queues.lists.insert(|id| {
        Arc::new(RouteList {
            id,
            content: Mutex::default(),
        })
    })?;
    Ok(Raw(made.id))
}

pub fn acltdtDestroyQueueRouteList(cx: &Cx<'_>, list: Raw) -> Result<()> {
    destroy(cx, &cx.process.queues.lists, list, "routeList")
}

fn list(cx: &Cx<'_>, handle: Raw) -> Result<Arc<RouteList>> {
    if handle.is_null() {
        return Err(null("routeList"));
    }
    cx.process.queues.lists.get(handle.0)
}

/// The route is copied into the list.
pub fn acltdtAddQueueRoute(cx: &Cx<'_>, handle: Raw, route: Raw) -> Result<()> {
    let list = list(cx, handle)?;
    if route.is_null() {
        return Err(null("route"));
    }
    let found = cx.process.queues.routes.get(route.0)?;
    let route = *found.content.lock();
    list.content.lock().push(route);
    Ok(())
}

/// The route of the list is copied into the program's.
pub fn acltdtGetQueueRoute(cx: &Cx<'_>, handle: Raw, index: usize, route: Raw) -> Result<()> {
    let list = list(cx, handle)?;
    if route.is_null() {
        return Err(null("route"));
    }
    let target = cx.process.queues.routes.get(route.0)?;
    let (found, count) = {
        let content = list.content.lock();
        (content.get(index).copied(), content.len())
    };
    let Some(found) = found else {
        return refuse(
            ErrorKind::InvalidArgument,
            format!("route {index} does not exist: the number of routes in the list is {count}"),
        );
    };
    *target.content.lock() = found;
    Ok(())
}

pub fn acltdtGetQueueRouteNum(cx: &Cx<'_>, handle: Raw) -> Result<usize> {
    Ok(list(cx, handle)?.content.lock().len())
}

/// Works on each route of a list, keeps its status there, and fails if one failed.
fn each_route(
    cx: &Cx<'_>,
    handle: Raw,
    what: &str,
    work: impl Fn(&mut QueueTable, Route) -> std::result::Result<i32, (i32, String)>,
) -> Result<()> {
    let list = list(cx, handle)?;
    cx.context()?;
    let mut routes = list.content.lock().clone();
    let mut failed = None;
    {
        let mut numbered = cx.process.queues.numbered.lock();
        for (index, route) in routes.iter_mut().enumerate() {
            match work(&mut numbered, *route) {
                Ok(status) => route.status = status,
                Err((status, why)) => {
                    route.status = status;
                    failed.get_or_insert((index, why));
                }
            }
        }
        numbered.flow();
    }
    flow(cx);
    *list.content.lock() = routes;
    match failed {
        None => Ok(()),
        Some((index, why)) => refuse(
            ErrorKind::Failure,
            format!("route {index} could not be {what}: {why}"),
        ),
    }
}

pub fn acltdtBindQueueRoutes(cx: &Cx<'_>, handle: Raw) -> Result<()> {
    each_route(cx, handle, "bound", |numbered, route| {
        let Route { from, to, .. } = route;
        let bad = |why: String| Err((ABNORMAL, why));
        for queue in [from, to] {
            if !numbered.queues.contains_key(&queue) {
                return bad(format!("there is no queue {queue}"));
            }
        }
        if numbered.reaches(to, from) {
            return bad(format!(
                "queue {from} would receive what it sends to queue {to}: routes must not form a cycle"
            ));
        }
        let targets = numbered.routes.entry(from).or_default();
        if targets.contains(&to) {
            return Err((BOUND, format!("queue {from} already sends to queue {to}")));
        }
        targets.push(to);
        Ok(BOUND)
    })
}

pub fn acltdtUnbindQueueRoutes(cx: &Cx<'_>, handle: Raw) -> Result<()> {
    each_route(cx, handle, "unbound", |numbered, route| {
        let Route { from, to, .. } = route;
        let targets = numbered.routes.get_mut(&from);
        let emptied = targets.and_then(|targets| {
            let at = targets.iter().position(|target| *target == to)?;
            targets.remove(at);
            Some(targets.is_empty())
        });
        match emptied {
            Some(empty) => {
                if empty {
                    numbered.routes.remove(&from);
                }
                Ok(UNBOUND)
            }
            None => Err((UNBOUND, format!("queue {from} does not send to queue {to}"))),
        }
    })
}

pub fn acltdtCreateQueueRouteQueryInfo(cx: &Cx<'_>) -> Result<Raw> {
    let made = cx.process.queues.questions.insert(|id| {
        Arc::new(Question {
            id,
            content: Mutex::default(),
        })
    })?;
    Ok(Raw(made.id))
}

pub fn acltdtDestroyQueueRouteQueryInfo(cx: &Cx<'_>, question: Raw) -> Result<()> {
    destroy(cx, &cx.process.queues.questions, question, "info")
}

pub fn acltdtSetQueueRouteQueryInfo(
    cx: &Cx<'_>,
    question: Raw,
    kind: u32,
    length: usize,
    value: Option<&[u8]>,
) -> Result<()> {
    if question.is_null() {
        return Err(null("param"));
    }
    let found = cx.process.queues.questions.get(question.0)?;
    let value = number(value, length, "value")?;
    let mut asked = found.content.lock();
    match kind {
        enums::ACL_TDT_QUEUE_ROUTE_QUERY_MODE_ENUM => asked.mode = Some(value),
        enums::ACL_TDT_QUEUE_ROUTE_QUERY_SRC_ID_UINT32 => asked.from = Some(value),
        enums::ACL_TDT_QUEUE_ROUTE_QUERY_DST_ID_UINT32 => asked.to = Some(value),
        _ => {
            return refuse(
                ErrorKind::InvalidArgument,
                crate::not_a_value("acltdtQueueRouteQueryInfoParamType", kind),
            );
        }
    }
    Ok(())
}

/// The list is cleared first. Connections here are never broken, so that a question for broken ones finds none.
pub fn acltdtQueryQueueRoutes(cx: &Cx<'_>, question: Raw, handle: Raw) -> Result<()> {
    if question.is_null() {
        return Err(null("queryInfo"));
    }
    let found = cx.process.queues.questions.get(question.0)?;
    let list = list(cx, handle)?;
    let asked = *found.content.lock();
    list.content.lock().clear();
    let missing = |what: &str| {
        Error::new(
            ErrorKind::InvalidArgument,
            format!("the query does not contain {what}"),
        )
    };
    let mode = asked.mode.ok_or_else(|| missing("its mode"))?;
    let from = || asked.from.ok_or_else(|| missing("the source"));
    let to = || asked.to.ok_or_else(|| missing("the target"));
    let (from, to) = match mode {
        enums::ACL_TDT_QUEUE_ROUTE_QUERY_SRC => (Some(from()?), None),
        enums::ACL_TDT_QUEUE_ROUTE_QUERY_DST => (None, Some(to()?)),
        enums::ACL_TDT_QUEUE_ROUTE_QUERY_SRC_AND_DST => (Some(from()?), Some(to()?)),
        enums::ACL_TDT_QUEUE_ROUTE_QUERY_ABNORMAL => return Ok(()),
        _ => {
            return refuse(
                ErrorKind::InvalidArgument,
                crate::not_a_value("acltdtQueueRouteQueryMode", mode),
            );
        }
    };
    cx.context()?;
    let numbered = cx.process.queues.numbered.lock();
    let routes: Vec<Route> = numbered
        .routes
        .iter()
        .flat_map(|(from, targets)| targets.iter().map(|to| (*from, *to)))
        .filter(|route| from.is_none_or(|from| route.0 == from))
        .filter(|route| to.is_none_or(|to| route.1 == to))
        .map(|(from, to)| Route {
            from,
            to,
            status: BOUND,
        })
        .collect();
    drop(numbered);
    *list.content.lock() = routes;
    Ok(())
}
