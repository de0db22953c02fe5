//! Open stores, and threads in which they may wait for the database.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::failure::Failure;
use super::limits::Limits;
use elephant_store::{Interrupter, Place, Store, StoreError, Visible};

/// Stores that answer one question each at a time.
pub(crate) struct Pool {
    place: Place,
    idle: Mutex<Vec<Store>>,
    turns: Arc<Semaphore>,
    limits: Limits,
}

impl Pool {
    /// Opens the first store, so that a server does not start without one.
    pub(crate) fn open(place: Place, limits: Limits) -> Result<Self, StoreError> {
        let first = Store::open(&place)?;
        let turns = Arc::new(Semaphore::new(limits.questions));
        Ok(Self { place, idle: Mutex::new(vec![first]), turns, limits })
    }

    /// Asks a question about the visible applications, or all of them. One that takes too long is stopped, and keeps its turn until it has ended, so that never more than
    /// the admitted number are being asked.
    pub(crate) async fn ask<T: Send + 'static>(
        self: &Arc<Self>,
        visible: Option<Visible>,
        question: impl FnOnce(&Store) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        let turn = timeout(self.limits.turn, Arc::clone(&self.turns).acquire_owned()).await;
        let turn = turn.map_err(|_| Failure::Busy)?.map_err(|_| Failure::Busy)?;
        let (pool, running) = (Arc::clone(self), Arc::new(Running::default()));
        let own = Arc::clone(&running);
        let asked = tokio::task::spawn_blocking(move || {
            let answer = pool.asked(visible, question, &own);
            drop(turn);
            answer
        });
        match timeout(self.limits.answer, asked).await {
            Err(_) => {
                // It may wait for a server.
                tokio::task::spawn_blocking(move || running.stop());
                Err(Failure::TooLong)
            }
            Ok(Err(error)) => Err(Failure::Broken(error.to_string())),
            Ok(Ok(answer)) => answer,
        }
    }

    fn asked<T>(
        &self,
        visible: Option<Visible>,
        question: impl FnOnce(&Store) -> Result<T, Failure>,
        running: &Running,
    ) -> Result<T, Failure> {
        let idle = lock(&self.idle).pop();
        let mut store = idle.map_or_else(|| Store::open(&self.place), Ok)?;
        store.set_visible(visible);
        running.begin(store.interrupter()?);
        let answer = question(&store);
        // A store that failed may have lost its connection, and one that was stopped may stop the next question, too.
        if running.end() && !matches!(answer, Err(Failure::Store(_))) {
            lock(&self.idle).push(store);
        }
        answer
    }
}

/// A question that is being asked, until it is answered or stopped.
#[derive(Default)]
struct Running(Mutex<(Option<Interrupter>, bool)>);

impl Running {
    fn begin(&self, interrupter: Interrupter) {
        lock(&self.0).0 = Some(interrupter);
    }

    /// Stops the question, if it was not answered meanwhile.
    fn stop(&self) {
        let mut running = lock(&self.0);
        running.1 = true;
        if let Some(interrupt) = &running.0 {
            interrupt();
        }
    }

    /// Whether the question was not stopped.
    fn end(&self) -> bool {
        let mut running = lock(&self.0);
        running.0 = None;
        !running.1
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use super::*;

    /// A pool on an empty store, and its folder.
    fn pool(limits: Limits) -> (Arc<Pool>, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let place = Place::from(OsString::from(folder.path().join("fleet.db")));
        drop(Store::create(&place).unwrap());
        (Arc::new(Pool::open(place, limits).unwrap()), folder)
    }

    fn run<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_multi_thread().enable_time().build().unwrap().block_on(future)
    }

    #[test]
    fn at_most_the_admitted_number_of_questions_is_asked_at_once() {
        let (pool, _folder) = pool(Limits { questions: 2, ..Limits::default() });
        let counts = Arc::new([const { AtomicUsize::new(0) }; 2]);
        run(async {
            let asked = (0..12).map(|_| {
                let (pool, counts) = (Arc::clone(&pool), Arc::clone(&counts));
                tokio::spawn(async move {
                    let question = move |_: &Store| {
                        let [now, most] = &*counts;
                        most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                        std::thread::sleep(Duration::from_millis(5));
                        now.fetch_sub(1, Ordering::SeqCst);
                        Ok(())
                    };
                    pool.ask(None, question).await.unwrap();
                })
            });
            for asked in asked.collect::<Vec<_>>() {
                asked.await.unwrap();
            }
        });
        assert_eq!(counts[1].load(Ordering::SeqCst), 2);
        assert!((1..=2).contains(&pool.idle.lock().unwrap().len()), "stores are used again");
    }

    #[test]
    fn a_question_that_takes_too_long_keeps_its_turn_until_it_ends() {
        let (turn, answer) = (Duration::from_millis(20), Duration::from_millis(50));
        let (pool, _folder) = pool(Limits { questions: 1, turn, answer, ..Limits::default() });
        let (end, ended) = std::sync::mpsc::channel::<()>();
        run(async {
            let slow = pool
                .ask(None, move |_| {
                    let _ = ended.recv();
                    Ok(())
                })
                .await;
            assert!(matches!(slow, Err(Failure::TooLong)), "{slow:?}");
            let next = pool.ask(None, |_| Ok(())).await;
            assert!(matches!(next, Err(Failure::Busy)), "{next:?}");
            drop(end);
            while pool.ask(None, |_| Ok(())).await.is_err() {}
        });
    }

    #[test]
    fn a_store_that_failed_is_not_used_again() {
        let (pool, _folder) = pool(Limits::default());
        run(async {
            let failed: Result<(), _> = pool.ask(None, |_| Err(StoreError::Forgotten.into())).await;
            assert!(matches!(failed, Err(Failure::Store(_))));
        });
        assert!(pool.idle.lock().unwrap().is_empty());
        run(async { pool.ask(None, |store| Ok(store.rules()?)).await.unwrap() });
    }
}
