//! The files of a busy history server: many small jobs of all kinds.

use std::path::Path;
use std::{fs, io};

use super::rng::SplitMix64;
use super::spark::SparkJob;
use super::spark::codec::Codec;
use super::{Format, Job, conf};

/// Logs per folder, as on Hadoop's history server.
pub const PER_FOLDER: u32 = 100;

/// The identifier in every generated log, replaced by each job's own.
const ID: &[u8] = b"1732147200000_0001";

/// Writes a folder of small logs, unless it exists; the same ones each time. Of a hundred jobs, thirty are
/// Avro-Json with configurations, fifteen Avro-Binary, ten Hadoop 1, twenty plain Spark and twenty-five Spark
/// with zstd.
pub fn write_folder(number: u32, path: &Path) -> io::Result<()> {
    if path.exists() {
        return Ok(());
    }
    let unfinished = path.with_extension("part");
    fs::create_dir_all(&unfinished)?;
    let first = number * PER_FOLDER;
    (first..first + PER_FOLDER).try_for_each(|number| write(number, &unfinished))?;
    fs::rename(&unfinished, path)
}

fn write(number: u32, folder: &Path) -> io::Result<()> {
    let mut rng = SplitMix64::new(u64::from(number));
    let (kind, tasks) = (rng.within(0, 100), tasks(&mut rng));
    let job = Job { maps: tasks, reduces: tasks / 10 };
    // It must have the same length as the one it replaces, because binary histories contain string lengths.
    let id = format!("1732147200000_{number:04}");
    let history = |format: Format| {
        let mut bytes = Vec::new();
        format.write(job, &mut bytes)?;
        Ok::<_, io::Error>(replaced(&bytes, id.as_bytes()))
    };
    let jhist = format!("job_{id}-1732147200000-alice-word+count-1732147300000-{}.jhist", job.maps);
    match kind {
        0..30 => {
            let mut properties = Vec::new();
            conf::write(&mut properties)?;
            fs::write(folder.join(format!("job_{id}_conf.xml")), properties)?;
            fs::write(folder.join(jhist), history(Format::AvroJson)?)
        }
        30..45 => fs::write(folder.join(jhist), history(Format::AvroBinary)?),
        45..55 => {
            let name = format!("jobtracker_1732147200000_job_{id}_alice_word+count");
            fs::write(folder.join(name), history(Format::Hadoop1)?)
        }
        _ => {
            let codec = if kind < 75 { Codec::Plain } else { Codec::Zstd };
            let mut log = Vec::new();
            SparkJob { tasks, executors: 4, cores: 2, lost_executors: 0 }.write(&mut log)?;
            let (log, mut bytes) = (replaced(&log, id.as_bytes()), Vec::new());
            codec.pack(&mut bytes, |out| out.write_all(&log))?;
            fs::write(folder.join(format!("application_{id}{}", codec.extension())), bytes)
        }
    }
}

/// Most jobs have few tasks, some have many.
fn tasks(rng: &mut SplitMix64) -> u32 {
    let tasks = match rng.within(0, 100) {
        0..60 => rng.within(1, 10),
        60..90 => rng.within(10, 50),
        90..99 => rng.within(50, 150),
        _ => rng.within(150, 400),
    };
    u32::try_from(tasks).unwrap_or_default()
}

fn replaced(bytes: &[u8], id: &[u8]) -> Vec<u8> {
    let (mut result, mut rest) = (Vec::with_capacity(bytes.len()), bytes);
    while let Some(at) = memchr::memmem::find(rest, ID)
        && let Some((before, after)) = rest.split_at_checked(at)
    {
        result.extend_from_slice(before);
        result.extend_from_slice(id);
        rest = after.get(ID.len()..).unwrap_or_default();
    }
    result.extend_from_slice(rest);
    result
}
