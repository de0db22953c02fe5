//! Event logs as written by Spark 3.5, of any size, the same ones each time.
//!
//! An application runs one query after another on a fixed number of executors. The log is consistent: a
//! stage's accumulables are the sums over its tasks, stages read the output of earlier stages, events are in
//! time order, and no executor runs more tasks than it has cores. Some tasks fail and run again; some slow
//! ones get a second attempt that loses.
//!
//! [`recorded`] repeats logs that Spark itself wrote.

mod accumulables;
mod amplify;
mod cluster;
pub mod codec;
mod environment;
mod figures;
mod json;
mod kind;
mod plan;
mod query;
pub mod recorded;
mod stage;
mod stage_info;
mod task;

use std::io::{self, Write};

use super::rng::SplitMix64;
use cluster::{Cluster, Peaks, host};
use json::{Json, Log};
use query::Query;

/// Start time of the application, in milliseconds since 1970.
const STARTED: i64 = 1_732_147_200_000;
const HEARTBEAT: i64 = 10_000;
const STORAGE_MEMORY: i64 = 4_830_792_908;

/// The size of a Spark application.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SparkJob {
    /// Tasks of all stages; there are slightly more attempts.
    pub tasks: u32,
    /// Executors that run at the same time.
    pub executors: u32,
    /// Tasks that an executor runs at the same time.
    pub cores: u32,
    /// Executors that are lost, one in each of the first queries.
    pub lost_executors: u32,
}

impl SparkJob {
    /// This many tasks, on 50 executors with 4 cores.
    #[must_use]
    pub const fn of(tasks: u32) -> Self {
        Self { tasks, executors: 50, cores: 4, lost_executors: 0 }
    }

    /// Runs the application and writes its log.
    pub fn write(self, out: &mut dyn Write) -> io::Result<()> {
        let mut world = World::new(self.cores, out);
        world.start(self.cores)?;
        world.fill_cluster(self.executors)?;
        let (mut rng, mut left) = (SplitMix64::new(0), i64::from(self.tasks));
        for id in 0.. {
            let wanted = rng.within(1_800, 2_350);
            // A remainder too small for its own query is added to this one.
            let tasks = if left - wanted < 300 { left } else { wanted };
            if tasks == 0 {
                break;
            }
            left -= tasks;
            Query::plan(id, tasks, &mut world).run(id < i64::from(self.lost_executors), &mut world)?;
            world.fill_cluster(self.executors)?;
            world.advance(world.now + rng.within(500, 3_000))?;
        }
        world.end()
    }
}

/// State of the simulated application.
struct World<'log> {
    log: Log<'log>,
    cluster: Cluster,
    now: i64,
    heartbeat: i64,
    next_task: i64,
    next_stage: i64,
    next_metric: i64,
}

impl<'log> World<'log> {
    fn new(cores: u32, out: &'log mut dyn Write) -> Self {
        Self {
            log: Log::new(out),
            cluster: Cluster::new(cores),
            now: STARTED,
            heartbeat: STARTED + HEARTBEAT,
            next_task: 0,
            next_stage: 0,
            next_metric: 1,
        }
    }

    fn task_id(&mut self) -> i64 {
        self.next_task += 1;
        self.next_task - 1
    }

    fn stage_id(&mut self) -> i64 {
        self.next_stage += 1;
        self.next_stage - 1
    }

    /// The first of `count` new identifiers of accumulables.
    fn metric_ids(&mut self, count: i64) -> i64 {
        self.next_metric += count;
        self.next_metric - count
    }

    fn uptime(&self) -> i64 {
        self.now - STARTED
    }

    /// Advances the time, with the driver's heartbeats.
    fn advance(&mut self, to: i64) -> io::Result<()> {
        while self.heartbeat <= to {
            self.now = self.heartbeat;
            self.heartbeat += HEARTBEAT;
            let peaks = Peaks::of_driver(self.uptime(), &mut SplitMix64::new(self.now.unsigned_abs()));
            self.log.event("SparkListenerExecutorMetricsUpdate", |event| {
                event.text("Executor ID", "driver").array("Metrics Updated", |_| ());
                event.array("Executor Metrics Updated", |list| {
                    list.braces(|update| {
                        update.number("Stage ID", -1).number("Stage Attempt ID", -1);
                        peaks.write("Executor Metrics", update);
                    });
                });
            })?;
        }
        self.now = self.now.max(to);
        Ok(())
    }

    fn start(&mut self, cores: u32) -> io::Result<()> {
        self.log.event("SparkListenerLogStart", |event| {
            event.text("Spark Version", "3.5.9");
        })?;
        self.log.event("SparkListenerResourceProfileAdded", |event| write_resource_profile(cores, event))?;
        self.write_block_manager(None)?;
        environment::write(cores, &mut self.log)?;
        self.log.event("SparkListenerApplicationStart", |event| {
            event.text("App Name", environment::APP_NAME).text("App ID", environment::APP_ID);
            event.number("Timestamp", STARTED).text("User", "sales");
        })
    }

    /// Adds the missing executors.
    fn fill_cluster(&mut self, executors: u32) -> io::Result<()> {
        for _ in self.cluster.ids().count()..executors as usize {
            self.advance(self.now + 40)?;
            let (id, time, cores) = (self.cluster.add(), self.now, self.cluster.cores());
            self.log.event("SparkListenerExecutorAdded", |event| write_executor(id, time, cores, event))?;
            self.write_block_manager(Some(id))?;
        }
        Ok(())
    }

    fn write_block_manager(&mut self, executor: Option<i64>) -> io::Result<()> {
        let time = self.now;
        self.log.event("SparkListenerBlockManagerAdded", |event| {
            write_block_manager_id(executor, event);
            event.number("Maximum Memory", STORAGE_MEMORY).number("Timestamp", time);
            event.number("Maximum Onheap Memory", STORAGE_MEMORY).number("Maximum Offheap Memory", 0);
        })
    }

    fn remove_executor(&mut self, executor: i64) -> io::Result<()> {
        let time = self.now;
        self.log.event("SparkListenerExecutorRemoved", |event| {
            event.number("Timestamp", time).quoted("Executor ID", executor);
            event.text("Removed Reason", task::LOSS);
        })?;
        self.log.event("SparkListenerBlockManagerRemoved", |event| {
            write_block_manager_id(Some(executor), event);
            event.number("Timestamp", time);
        })
    }

    fn end(&mut self) -> io::Result<()> {
        let time = self.now;
        self.log.event("SparkListenerApplicationEnd", |event| {
            event.number("Timestamp", time);
        })
    }
}

fn write_resource_profile(cores: u32, event: &mut Json) {
    event.number("Resource Profile Id", 0);
    event.object("Executor Resource Requests", |requests| {
        for (name, amount) in [("cores", i64::from(cores)), ("memory", 8192), ("offHeap", 0)] {
            requests.object(name, |request| {
                request.text("Resource Name", name).number("Amount", amount);
                request.text("Discovery Script", "").text("Vendor", "");
            });
        }
    });
    event.object("Task Resource Requests", |requests| {
        requests.object("cpus", |cpus| {
            cpus.text("Resource Name", "cpus").fraction("Amount", "1.0");
        });
    });
}

fn write_block_manager_id(executor: Option<i64>, event: &mut Json) {
    event.object("Block Manager ID", |id| {
        match executor {
            Some(executor) => id.quoted("Executor ID", executor).text("Host", &host(executor)),
            None => id.text("Executor ID", "driver").text("Host", "node900"),
        };
        id.number("Port", 40_000 + executor.unwrap_or_default());
    });
}

fn write_executor(id: i64, time: i64, cores: u32, event: &mut Json) {
    event.number("Timestamp", time).quoted("Executor ID", id).object("Executor Info", |info| {
        info.text("Host", &host(id)).number("Total Cores", cores.into());
        info.object("Log Urls", |urls| {
            for stream in ["stdout", "stderr"] {
                let url = format!(
                    "http://{}:8042/node/containerlogs/container_1732147200000_0001_01_{id:06}/sales/{stream}?start=-4096",
                    host(id)
                );
                urls.text(stream, &url);
            }
        });
        info.object("Attributes", |_| ()).object("Resources", |_| ());
        info.number("Resource Profile Id", 0).number("Registration Time", time);
    });
}
