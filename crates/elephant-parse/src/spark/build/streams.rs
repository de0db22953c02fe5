//! Streaming queries and their batches.

use super::{Builder, held};
use crate::spark::event::{Progress, StreamInfo};
use elephant_model::model::spark::Stream;

/// How many batches of a stream are kept: the latest ones. The others count in sums.
const MAX_BATCHES: usize = 10_000;

impl Builder {
    /// The run of a stream, added if new. Spark 2.0 knows no runs, only ids.
    fn change_stream(&mut self, info: StreamInfo, change: impl FnOnce(&mut Stream)) {
        let Some(run) = info.run.or_else(|| info.id.clone()) else { return };
        let place = if let Some(&place) = self.stream_places.get(run.as_str()) {
            place
        } else {
            let Some(place) = self.new_place::<Stream>(self.spark.streams.len()) else { return };
            self.held.add(held::of_key(&run));
            self.stream_places.insert(run.as_str().into(), place);
            self.spark.streams.push(Stream { run, ..Stream::default() });
            place
        };
        let Some(stream) = self.spark.streams.get_mut(place) else { return };
        let before = held::of_stream(stream);
        stream.id = info.id.or(stream.id.take());
        stream.name = info.name.or(stream.name.take());
        change(stream);
        let after = held::of_stream(stream);
        self.held.change(before, after);
    }

    pub(super) fn stream_started(&mut self, info: StreamInfo) {
        let at = info.at;
        self.saw(at);
        self.change_stream(info, |stream| stream.started_at = at.or(stream.started_at));
    }

    pub(super) fn stream_terminated(&mut self, mut info: StreamInfo) {
        let error = info.error.take();
        self.change_stream(info, |stream| {
            stream.has_end = true;
            stream.error = error;
        });
    }

    pub(super) fn stream_progress(&mut self, progress: Progress) {
        self.saw(progress.stream.at);
        let mut forgotten = 0;
        let added = held::of_batch(&progress.batch);
        self.change_stream(progress.stream, |stream| {
            stream.has_rocksdb |= progress.has_rocksdb;
            if progress.is_idle {
                return;
            }
            stream.sources = progress.sources;
            stream.state_operators = progress.state_operators;
            stream.batches.push_back(progress.batch);
            if stream.batches.len() > MAX_BATCHES {
                forgotten = stream.batches.front().map_or(0, held::of_batch);
                stream.fold_first();
            }
        });
        self.held.change(forgotten, added);
    }
}
