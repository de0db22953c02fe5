//! Answers that took long, so that many clients with the same question do not ask the store again and again.
//!
//! An answer may be old by a few times as long as it took: a question that is asked all the time takes a small part of one
//! processor, and no client waits for it. A quick answer is only for those who wait for it, so that it is never old.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::failure::Failure;
use super::query::Asked;
use super::reply::Reply;

/// Answers that take less are not kept for later clients.
const QUICK: Duration = Duration::from_millis(50);
/// An answer is given again for so many times as long as it took.
const FRESH: u32 = 10;
/// Until it is so many times as old, it is still given, while the question is asked again.
const USABLE: u32 = 20;
/// The most answers that are kept, and the most bytes of each.
const MOST: usize = 64;
const MOST_BYTES: usize = 1 << 20;

/// A question: the path of its route, its parameters, and who asks, if others would get another answer.
type Question = (&'static str, Asked, Option<String>);

/// The answers that are kept, and the questions that are being asked.
pub(crate) struct Kept {
    places: Mutex<HashMap<Question, Arc<Place>>>,
    /// Questions that are being asked or wait for their turn, also those of clients that are gone.
    asked: Arc<Semaphore>,
}

/// A question's place.
#[derive(Default)]
struct Place {
    last: Mutex<Option<Last>>,
    /// Is locked while it is asked.
    asking: Arc<tokio::sync::Mutex<()>>,
}

/// The last answer.
struct Last {
    reply: Reply,
    at: Instant,
    took: Duration,
}

impl Kept {
    /// With at most so many different questions at a time.
    pub(crate) fn new(most: usize) -> Self {
        Self { places: Mutex::default(), asked: Arc::new(Semaphore::new(most)) }
    }

    /// The answer to a question, which `ask` asks if none is kept. Clients with the same question wait for one answer, for
    /// at most `patience`.
    pub(crate) async fn answer(
        self: &Arc<Self>,
        question: Question,
        ask: impl Future<Output = Result<Reply, Failure>> + Send + 'static,
        patience: Duration,
    ) -> Result<Reply, Failure> {
        let arrived = Instant::now();
        let place = Arc::clone(lock(&self.places).entry(question.clone()).or_default());
        if let Some(reply) = place.within(FRESH) {
            return Ok(reply);
        }
        let usable = place.within(USABLE);
        let turn = match (Arc::clone(&place.asking).try_lock_owned(), &usable) {
            (Ok(turn), _) => turn,
            (Err(_), Some(usable)) => return Ok(usable.clone()),
            (Err(_), None) => {
                let turn = timeout(patience, Arc::clone(&place.asking).lock_owned()).await;
                turn.map_err(|_| Failure::Busy)?
            }
        };
        // Another client may have got the answer meanwhile.
        if let Some(reply) = place.within(FRESH).or_else(|| place.since(arrived)) {
            return Ok(reply);
        }
        let Ok(one_of_many) = Arc::clone(&self.asked).try_acquire_owned() else {
            return usable.ok_or(Failure::Busy);
        };
        let kept = Arc::clone(self);
        // Its own task, so that the answer is kept if this client does not wait for it.
        let asked = tokio::spawn(async move {
            let begin = Instant::now();
            let answer = ask.await;
            kept.keep(&question, &place, &answer, begin.elapsed());
            drop((turn, one_of_many));
            answer
        });
        match usable {
            Some(usable) => Ok(usable),
            None => asked.await.map_err(|error| Failure::Broken(error.to_string()))?,
        }
    }

    /// Keeps an answer, and forgets quick ones for which no client waits.
    fn keep(&self, question: &Question, place: &Arc<Place>, answer: &Result<Reply, Failure>, took: Duration) {
        let mut places = lock(&self.places);
        let reply = answer.as_ref().ok().filter(|reply| reply.len() <= MOST_BYTES);
        *lock(&place.last) = reply.map(|reply| Last { reply: reply.clone(), at: Instant::now(), took });
        // One count is that of the table, and one that of the caller.
        let waits = |key: &Question, place: &Arc<Place>| {
            Arc::strong_count(place) > if key == question { 2 } else { 1 }
        };
        places.retain(|key, place| place.is_slow() || waits(key, place));
        while places.len() > MOST {
            let age = |place: &Arc<Place>| lock(&place.last).as_ref().map(|last| last.at);
            let kept = places.iter().filter_map(|(question, place)| Some((age(place)?, question)));
            let Some(oldest) = kept.min_by_key(|(at, _)| *at).map(|(_, question)| question.clone()) else {
                break;
            };
            places.remove(&oldest);
        }
    }
}

impl Place {
    /// The last answer, unless it is older than so many times as long as it took.
    fn within(&self, times: u32) -> Option<Reply> {
        let last = lock(&self.last);
        let last = last.as_ref().filter(|last| last.took >= QUICK)?;
        (last.at.elapsed() <= last.took.saturating_mul(times)).then(|| last.reply.clone())
    }

    /// The last answer, if it came after this moment.
    fn since(&self, moment: Instant) -> Option<Reply> {
        lock(&self.last).as_ref().filter(|last| last.at >= moment).map(|last| last.reply.clone())
    }

    /// Whether the last answer took so long that it is kept.
    fn is_slow(&self) -> bool {
        lock(&self.last).as_ref().is_some_and(|last| last.took >= QUICK)
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tokio::time::sleep;

    use super::super::reply::TEXT;
    use super::*;

    const PATIENCE: Duration = Duration::from_secs(10);

    fn run(test: impl Future<Output = ()>) {
        tokio::runtime::Builder::new_multi_thread().enable_time().build().unwrap().block_on(test);
    }

    /// A question that takes so long, and counts how often it was asked.
    fn ask(
        took: Duration,
        count: &Arc<AtomicUsize>,
    ) -> impl Future<Output = Result<Reply, Failure>> + Send + 'static {
        let count = Arc::clone(count);
        async move {
            sleep(took).await;
            let number = count.fetch_add(1, Ordering::SeqCst);
            Ok(Reply::Content(TEXT, number.to_string().into_bytes()))
        }
    }

    fn body(reply: Result<Reply, Failure>) -> String {
        let Ok(Reply::Content(_, body)) = reply else { panic!("{reply:?}") };
        String::from_utf8(body).unwrap()
    }

    #[test]
    fn clients_with_the_same_slow_question_share_one_answer() {
        let (kept, count) = (Arc::new(Kept::new(1000)), Arc::new(AtomicUsize::new(0)));
        run(async {
            let clients = (0..20).map(|_| {
                let (kept, count) = (Arc::clone(&kept), Arc::clone(&count));
                tokio::spawn(async move {
                    let question = ("/", Asked::default(), None);
                    body(kept.answer(question, ask(QUICK * 4, &count), PATIENCE).await)
                })
            });
            for client in clients.collect::<Vec<_>>() {
                assert_eq!(client.await.unwrap(), "0");
            }
            // Then it is given while it is asked again.
            sleep(QUICK * 4 * (FRESH + 2)).await;
            let again = kept.answer(("/", Asked::default(), None), ask(QUICK * 4, &count), PATIENCE).await;
            assert_eq!(body(again), "0");
            sleep(QUICK * 8).await;
            let new = kept.answer(("/", Asked::default(), None), ask(QUICK * 4, &count), PATIENCE).await;
            assert_eq!((body(new).as_str(), count.load(Ordering::SeqCst)), ("1", 2));
        });
    }

    #[test]
    fn clients_that_wait_for_a_quick_answer_share_it() {
        let (kept, count) = (Arc::new(Kept::new(1000)), Arc::new(AtomicUsize::new(0)));
        run(async {
            let clients = (0..20).map(|_| {
                let (kept, count) = (Arc::clone(&kept), Arc::clone(&count));
                tokio::spawn(async move {
                    let question = ("/", Asked::default(), None);
                    kept.answer(question, ask(QUICK / 4, &count), PATIENCE).await.map(drop)
                })
            });
            for client in clients.collect::<Vec<_>>() {
                client.await.unwrap().unwrap();
            }
            assert!(count.load(Ordering::SeqCst) <= 10, "{count:?}");
            // The next question forgets it.
            drop(kept.answer(("/other", Asked::default(), None), ask(QUICK / 4, &count), PATIENCE).await);
        });
        assert!(lock(&kept.places).is_empty());
    }

    #[test]
    fn quick_answers_and_failures_are_not_kept() {
        let (kept, count) = (Arc::new(Kept::new(1000)), Arc::new(AtomicUsize::new(0)));
        run(async {
            for number in ["0", "1"] {
                let reply =
                    kept.answer(("/", Asked::default(), None), ask(Duration::ZERO, &count), PATIENCE).await;
                assert_eq!(body(reply), number);
            }
            let failure = async {
                sleep(QUICK * 2).await;
                Err(Failure::TooLong)
            };
            let failed = kept.answer(("/", Asked::default(), None), failure, PATIENCE).await;
            assert!(matches!(failed, Err(Failure::TooLong)));
            assert!(lock(&kept.places).is_empty());
        });
    }

    #[test]
    fn a_bounded_number_of_answers_is_kept() {
        let (kept, count) = (Arc::new(Kept::new(1000)), Arc::new(AtomicUsize::new(0)));
        run(async {
            let clients = (0..MOST * 2).map(|number| {
                let (kept, count) = (Arc::clone(&kept), Arc::clone(&count));
                let path: &'static str = number.to_string().leak();
                tokio::spawn(async move {
                    kept.answer((path, Asked::default(), None), ask(QUICK * 2, &count), PATIENCE)
                        .await
                        .map(drop)
                })
            });
            for client in clients.collect::<Vec<_>>() {
                client.await.unwrap().unwrap();
            }
        });
        assert_eq!((lock(&kept.places).len(), count.load(Ordering::SeqCst)), (MOST, MOST * 2));
    }

    #[test]
    fn a_bounded_number_of_questions_is_asked_even_if_no_client_waits() {
        let (kept, count) = (Arc::new(Kept::new(2)), Arc::new(AtomicUsize::new(0)));
        run(async {
            for path in ["/a", "/b"] {
                let asked = kept.answer((path, Asked::default(), None), ask(QUICK * 4, &count), PATIENCE);
                // The client goes.
                assert!(timeout(Duration::from_millis(5), asked).await.is_err());
            }
            let third = kept.answer(("/c", Asked::default(), None), ask(QUICK, &count), PATIENCE).await;
            assert!(matches!(third, Err(Failure::Busy)), "{third:?}");
            sleep(QUICK * 8).await;
            let later = kept.answer(("/c", Asked::default(), None), ask(QUICK, &count), PATIENCE).await;
            assert_eq!((body(later).as_str(), count.load(Ordering::SeqCst)), ("2", 3));
        });
    }
}
