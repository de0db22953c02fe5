//! No command repeats the password, the key or the signature of an address.

use assert_cmd::Command;

const SECRET: &str = "S3cr3tS3cr3t";

/// Addresses with a secret, in place of `{}`.
const FORMS: [&str; 12] = [
    "s3://AKIAKEY:{}@bucket/logs",
    "s3a://AKIAKEY:a/{}@bucket/logs",
    "https://user:{}@host.invalid/logs",
    "https://host.invalid/logs?sv=1&sig={}",
    "https://host.invalid/logs?X-Amz-Credential=a&X-Amz-Signature={}",
    "https://host.invalid/logs?access_token={}",
    "abfss://container:{}@account.dfs.core.windows.net/logs",
    "wasbs://container@account.blob.core.windows.net/logs?sig={}",
    "hdfs://user:{}@namenode:8020/logs",
    "jdbc:mysql://db.invalid/x?user=a&password={}",
    "jdbc:sqlserver://db.invalid:1433;user=a;password={}",
    "logs/app.log?token={}",
];

/// The commands that name files, and where the address stands.
const COMMANDS: [&[&str]; 9] = [
    &["analyze"],
    &["analyze", "--format", "json"],
    &["check", "--baseline", "none.yaml"],
    &["check", "testdata/hadoop1", "--baseline"],
    &["diff", "testdata/hadoop1"],
    &["stragglers"],
    &["whatif"],
    &["rules", "check"],
    &["analyze", "--unknown-option"],
];

fn elephant() -> Command {
    let mut command = Command::cargo_bin("elephant-rs").unwrap();
    command.env("LC_ALL", "C.UTF-8").current_dir(env!("CARGO_MANIFEST_DIR"));
    command
}

#[test]
fn no_command_repeats_the_secret_of_an_address() {
    let mut commands: Vec<&[&str]> = COMMANDS.to_vec();
    // With the feature `remote`, the hosts are asked for, and the names end in `.invalid`.
    if cfg!(feature = "remote") {
        commands.retain(|command| command.contains(&"--baseline") || command.contains(&"check"));
    }
    #[cfg(feature = "store")]
    commands.push(&["ingest", "testdata/hadoop1", "--store"]);
    for form in FORMS {
        let address = form.replace("{}", SECRET);
        for command in &commands {
            let output =
                elephant().args(*command).arg(&address).env("ELEPHANT_LOG", "debug").output().unwrap();
            let told = [output.stdout, output.stderr].concat();
            let told = String::from_utf8_lossy(&told);
            assert!(!told.contains(SECRET), "{command:?} {form}: {told}");
            assert!(!told.is_empty(), "{command:?} {form}");
        }
    }
}
