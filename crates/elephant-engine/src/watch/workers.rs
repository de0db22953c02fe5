//! Work that waits for others, such as servers, on a bounded number of threads.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// Threads that turn tasks into answers. They end with this value, each after the task that it has begun.
pub(super) struct Workers<Task, Answer> {
    tasks: Sender<Task>,
    answers: Receiver<Answer>,
    /// Tasks without an answer.
    open: usize,
}

impl<Task: Send + 'static, Answer: Send + 'static> Workers<Task, Answer> {
    /// Starts `count` threads that do this work.
    pub(super) fn new(count: usize, work: impl Fn(Task) -> Answer + Send + Sync + 'static) -> Self {
        let (tasks, waiting) = channel::<Task>();
        let (done, answers) = channel();
        let (waiting, work) = (Arc::new(Mutex::new(waiting)), Arc::new(work));
        for _ in 0..count {
            let (waiting, work, done) = (Arc::clone(&waiting), Arc::clone(&work), done.clone());
            thread::spawn(move || {
                loop {
                    let next = waiting.lock().unwrap_or_else(PoisonError::into_inner).recv();
                    let Ok(task) = next else { return };
                    if done.send(work(task)).is_err() {
                        return;
                    }
                }
            });
        }
        Self { tasks, answers, open: 0 }
    }

    /// Queues a task.
    pub(super) fn send(&mut self, task: Task) {
        self.open += usize::from(self.tasks.send(task).is_ok());
    }

    /// An answer that has arrived, if there is one.
    pub(super) fn answer(&mut self) -> Option<Answer> {
        let answer = self.answers.try_recv().ok()?;
        self.open -= 1;
        Some(answer)
    }

    /// Waits for the next answer; `None` if no task is open.
    pub(super) fn wait(&mut self) -> Option<Answer> {
        if self.open == 0 {
            return None;
        }
        let answer = self.answers.recv().ok()?;
        self.open -= 1;
        Some(answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_that_waits_does_not_hold_up_others() {
        let (release, released) = channel::<()>();
        let released = Mutex::new(released);
        let mut workers = Workers::new(2, move |task: u32| {
            if task == 0 {
                released.lock().unwrap().recv().unwrap();
            }
            task
        });
        (0..5).for_each(|task| workers.send(task));
        let others: Vec<u32> = (0..4).map(|_| workers.wait().unwrap()).collect();
        assert_eq!(others, [1, 2, 3, 4]);
        assert_eq!(workers.answer(), None);
        release.send(()).unwrap();
        assert_eq!((workers.wait(), workers.wait()), (Some(0), None));
    }
}
