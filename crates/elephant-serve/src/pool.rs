//! Open stores, and threads in which they may wait for the database.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::failure::Failure;
use super::limits::Limits;
use elephant_store::{Place, Store, StoreError};

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

    /// Asks a question. One that takes too long is not waited for, but it keeps its turn until it ends, so that never
    /// more than the admitted number are being asked.
    pub(crate) async fn ask<T: Send + 'static>(
        self: &Arc<Self>,
        question: impl FnOnce(&Store) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        let turn = timeout(self.limits.turn, Arc::clone(&self.turns).acquire_owned()).await;
        let turn = turn.map_err(|_| Failure::Busy)?.map_err(|_| Failure::Busy)?;
        let pool = Arc::clone(self);
        let asked = tokio::task::spawn_blocking(move || {
            let answer = pool.asked(question);
            drop(turn);
            answer
        });
        match timeout(self.limits.answer, asked).await {
            Err(_) => Err(Failure::TooLong),
            Ok(Err(error)) => Err(Failure::Broken(error.to_string())),
            Ok(Ok(answer)) => answer,
        }
    }

    fn asked<T>(&self, question: impl FnOnce(&Store) -> Result<T, Failure>) -> Result<T, Failure> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let store = idle.map_or_else(|| Store::open(&self.place), Ok)?;
        let answer = question(&store);
        // A store that failed may have lost its connection.
        if !matches!(answer, Err(Failure::Store(_))) {
            self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(store);
        }
        answer
    }
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
                    pool.ask(question).await.unwrap();
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
                .ask(move |_| {
                    let _ = ended.recv();
                    Ok(())
                })
                .await;
            assert!(matches!(slow, Err(Failure::TooLong)), "{slow:?}");
            let next = pool.ask(|_| Ok(())).await;
            assert!(matches!(next, Err(Failure::Busy)), "{next:?}");
            drop(end);
            while pool.ask(|_| Ok(())).await.is_err() {}
        });
    }

    #[test]
    fn a_store_that_failed_is_not_used_again() {
        let (pool, _folder) = pool(Limits::default());
        run(async {
            let failed: Result<(), _> = pool.ask(|_| Err(StoreError::Forgotten.into())).await;
            assert!(matches!(failed, Err(Failure::Store(_))));
        });
        assert!(pool.idle.lock().unwrap().is_empty());
        run(async { pool.ask(|store| Ok(store.rules()?)).await.unwrap() });
    }
}
