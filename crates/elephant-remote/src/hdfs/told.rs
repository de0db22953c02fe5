//! What the errors of name nodes and data nodes mean.

use std::fmt::Write as _;

use hdfs_native::HdfsError;

use super::super::reason::{Reason, causes, short};

/// The message for a file whose end only its writer and Hadoop's own client can read.
pub(super) const UNFINISHED: &str = "it is still being written, and its last block cannot be read yet; read it when \
                                     the application has ended, or pipe it: hdfs dfs -cat ADDRESS | elephant-rs \
                                     analyze -";
const STANDBY: &str = "the name node is on standby; name the active one, or name the group of both and set \
                       HADOOP_CONF_DIR to the folder of hdfs-site.xml";

pub(super) fn reason(error: &HdfsError) -> Reason {
    match error {
        HdfsError::FileNotFound(_) | HdfsError::IsADirectoryError(_) => Reason::NotFound(causes(error)),
        HdfsError::RPCError(class, said) | HdfsError::FatalRPCError(class, said) => of_class(class, said),
        HdfsError::SASLError(_) | HdfsError::GSSAPIError(..) | HdfsError::NoSASLMechanism => {
            Reason::Refused(causes(error))
        }
        HdfsError::DataTransferError(said) => Reason::Passing(of_data_nodes(said)),
        HdfsError::IOError(_)
        | HdfsError::ChecksumError
        | HdfsError::BlocksNotFound(_)
        | HdfsError::InvalidRPCResponse(_) => Reason::Passing(causes(error)),
        HdfsError::InvalidArgument(said) if said.contains("URL must contain a host") => no_name_node(),
        HdfsError::InvalidArgument(said) if said.contains("fs.defaultFS") => no_name_node(),
        HdfsError::InvalidArgument(said) if said.contains("viewfs") => Reason::Lasting(format!(
            "Hadoop's configuration does not say what is mounted there ({said}); set HADOOP_CONF_DIR to the folder \
             of a core-site.xml with fs.viewfs.mounttable"
        )),
        HdfsError::UnsupportedFeature(said) if said.contains("encryption zone") => Reason::Lasting(
            "it is in an encryption zone, which cannot be read; pipe it: hdfs dfs -cat ADDRESS | elephant-rs … -"
                .to_owned(),
        ),
        _ => Reason::Lasting(causes(error)),
    }
}

fn no_name_node() -> Reason {
    Reason::Lasting(
        "the address does not name a name node; write hdfs://NAMENODE:8020/PATH, or set HADOOP_CONF_DIR to the \
         folder of a core-site.xml with fs.defaultFS"
            .to_owned(),
    )
}

/// The meaning of a Java exception.
fn of_class(class: &str, said: &str) -> Reason {
    let class = class.rsplit(['.', '$']).next().unwrap_or(class);
    // The next lines are the stack trace.
    let first = said.lines().next().unwrap_or_default();
    let told = short(first.split_once(&format!("{class}: ")).map_or(first, |(_, told)| told));
    match class {
        "FileNotFoundException" => Reason::NotFound(told),
        "AccessControlException"
        | "AuthorizationException"
        | "InvalidToken"
        | "SaslException"
        | "GSSException" => Reason::Refused(told),
        "StandbyException" | "ObserverRetryOnActiveException" => Reason::Passing(STANDBY.to_owned()),
        "RetriableException" | "SafeModeException" | "ServerTooBusyException" => Reason::Passing(told),
        _ if told.is_empty() => Reason::Lasting(class.to_owned()),
        _ => Reason::Lasting(format!("{class}: {told}")),
    }
}

/// Lists the data nodes that were tried. The client's text has all details that it knows about them.
fn of_data_nodes(said: &str) -> String {
    let Some(nodes) = said.strip_prefix("All DataNodes failed: ") else { return short(said) };
    let field = |node: &str, name: &str| {
        let (_, value) = node.split_once(&format!("{name}: "))?;
        Some(value.split([',', ' ', '}']).next()?.trim_matches('"').to_owned())
    };
    let mut tried = String::new();
    for node in nodes.split("ip_addr").skip(1) {
        let node = format!("ip_addr{node}");
        let (Some(host), Some(port)) = (field(&node, "ip_addr"), field(&node, "xfer_port")) else { continue };
        let comma = if tried.is_empty() { "" } else { ", " };
        let _ = write!(tried, "{comma}{host}:{port}");
    }
    if tried.is_empty() {
        return "one of its blocks is on no data node".to_owned();
    }
    format!(
        "one of its blocks could not be read from any data node (tried {tried}); if this machine reaches data nodes \
         by host name only, set dfs.client.use.datanode.hostname in hdfs-site.xml"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exceptions_of_java_are_told_in_short() {
        let denied = "Permission denied: user=bob, access=EXECUTE, inode=\"/x\":root:g:drwx------\n\tat a.B.c(B.java:1)";
        let of = |class: &str, said: &str| reason(&HdfsError::RPCError(class.to_owned(), said.to_owned()));
        assert_eq!(
            of("org.apache.hadoop.security.AccessControlException", denied),
            Reason::Refused(
                "Permission denied: user=bob, access=EXECUTE, inode=\"/x\":root:g:drwx------".to_owned()
            )
        );
        let standby =
            of("org.apache.hadoop.ipc.StandbyException", "Operation category READ is not supported");
        assert!(matches!(standby, Reason::Passing(said) if said.contains("on standby")));
        assert_eq!(
            of("java.lang.IllegalStateException", "java.lang.IllegalStateException: odd\n\tat x"),
            Reason::Lasting("IllegalStateException: odd".to_owned())
        );
        let missing = reason(&HdfsError::FileNotFound("/x".to_owned()));
        assert!(matches!(missing, Reason::NotFound(_)));
    }

    #[test]
    fn data_nodes_that_fail_are_named() {
        let said = "All DataNodes failed: [DatanodeInfoProto { id: DatanodeIdProto { ip_addr: \"10.0.0.1\", host_name: \
                    \"dn1\", datanode_uuid: \"u\", xfer_port: 50010, info_port: 0, ipc_port: 0 } }, DatanodeInfoProto { id: \
                    DatanodeIdProto { ip_addr: \"10.0.0.2\", host_name: \"dn2\", xfer_port: 9866, info_port: 0 } }]";
        assert!(
            of_data_nodes(said).contains("(tried 10.0.0.1:50010, 10.0.0.2:9866);"),
            "{}",
            of_data_nodes(said)
        );
        assert_eq!(of_data_nodes("All DataNodes failed: []"), "one of its blocks is on no data node");
        assert_eq!(of_data_nodes("odd"), "odd");
    }
}
