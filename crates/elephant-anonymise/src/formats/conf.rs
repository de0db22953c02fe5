//! Configurations of jobs (`job_…_conf.xml`), written anew from the properties that were read.

use std::io::{self, Write};

use quick_xml::escape::escape;

use super::Dropped;
use crate::mask::Mask;
use elephant_model::model::conf::Conf;
use elephant_parse::{Level, jobconf};

/// Rewrites a configuration. Comments, and what could not be read, are left out.
pub(crate) fn configuration(mask: &mut Mask, bytes: Vec<u8>, out: &mut dyn Write) -> io::Result<Dropped> {
    let (conf, problems) = jobconf::parse(bytes);
    properties(mask, &conf, out)?;
    let damaged = problems.into_vec().into_iter().filter(|problem| problem.level >= Level::Warning).count();
    Ok(Dropped { damaged: damaged as u64, ..Dropped::default() })
}

pub(super) fn properties(mask: &mut Mask, conf: &Conf, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(b"<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?><configuration>\n")?;
    for (name, value) in conf.iter() {
        let masked = mask.setting_name(name);
        let value: String = mask.setting_value(name, value).chars().filter(|c| is_of_xml(*c)).collect();
        let masked: String = masked.chars().filter(|c| is_of_xml(*c)).collect();
        let source = match conf.is_default(name) {
            Some(true) => "<source>mapred-default.xml</source>",
            Some(false) => "<source>job.xml</source>",
            None => "",
        };
        writeln!(
            out,
            "<property><name>{}</name><value>{}</value>{source}</property>",
            escape(&masked),
            escape(&value)
        )?;
    }
    out.write_all(b"</configuration>\n")
}

/// XML has no way to write other control characters.
fn is_of_xml(c: char) -> bool {
    !c.is_control() || matches!(c, '\t' | '\n' | '\r')
}
