//! Completion scripts in the shells themselves.

use std::path::Path;
use std::process::Command;

use elephant_testing::{is_ci, skipped};

/// Prints what bash completes at the end of `$2`; `$1` is the script.
const BASH: &str = r#"
source "$1"
read -ra COMP_WORDS <<<"${2//=/ = }"
[[ $2 == *' ' ]] && COMP_WORDS+=('')
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
COMP_LINE=$2 COMP_POINT=${#2}
[[ $(complete -p elephant-rs) =~ -F\ ([^ ]+) ]] || exit 9
"${BASH_REMATCH[1]}" elephant-rs "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}" 2>/dev/null
printf '%s\n' "${COMPREPLY[@]}"
"#;

/// The same for zsh, in a terminal of its own: the widgets of completion run only in an editor of lines.
const ZSH: &str = r#"
zmodload zsh/zpty || exit 9
folder=${1:h}
zpty z zsh -f -i
zpty -w z "PS1=; unset zle_bracketed_paste; fpath=($folder \$fpath); autoload -U compinit; compinit -u -D"
zpty -w z 'compadd() {
    if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then builtin compadd "$@"; return $?; fi
    typeset -a hits; builtin compadd -A hits "$@"; (( $#hits )) && print -rl -- $hits
}
finish() { print -r -- __START__; _main_complete >&1; print -r -- __END__; exit; }
zle -C finish complete-word finish; bindkey "^I" finish'
zpty -w z 'print -r -- __READY"__"'
while zpty -r z line; do [[ $line == *__READY__* ]] && break; done
zpty -w -n z "$2"$'\t'
while zpty -r z line; do [[ $line == *__START__* ]] && break; done
while zpty -r z line; do [[ $line == *__END__* ]] && break; print -r -- ${line%%$'\r'*}; done
"#;

const FISH: &str = "source $argv[1]; complete --do-complete $argv[2]";

/// What a shell completes at the end of a line; `None` if the shell is not installed.
#[track_caller]
fn complete(shell: &str, script: &Path, line: &str) -> Option<Vec<String>> {
    let (options, program): (&[&str], _) = match shell {
        "bash" => (&["--norc", "-c"], BASH),
        "zsh" => (&["-f", "-c"], ZSH),
        _ => (&["--no-config", "-c"], FISH),
    };
    let mut command = Command::new(shell);
    command.args(options).arg(program);
    if shell != "fish" {
        command.arg(shell);
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = command.arg(script).arg(line).current_dir(folder).env("TERM", "dumb").output();
    let Ok(output) = output else {
        assert!(!is_ci(), "{shell} is not installed");
        skipped::note(&format!("{shell} is not installed"));
        return None;
    };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.code() != Some(9), "{shell} cannot complete: {text}");
    // fish adds a description after a tab, and the option before its value.
    let words = text.lines().filter_map(|line| line.split('\t').next());
    let words = words.filter_map(|word| word.trim().trim_end_matches('=').rsplit('=').next());
    Some(words.filter(|word| !word.is_empty()).map(str::to_owned).collect())
}

/// For each line, what must be completed and what must not.
const EXPECTED: [(&str, &[&str], &[&str]); 16] = [
    (
        "elephant-rs ",
        &["analyze", "check", "rules", "whatif", "completions"],
        &["--format", "list", "mapper-skew"],
    ),
    ("elephant-rs completions ", &["bash", "zsh", "fish"], &["analyze", "Cargo.toml"]),
    ("elephant-rs an", &["analyze"], &["check"]),
    (
        "elephant-rs analyze --",
        &["--format", "--rules", "--rule", "--since", "--summary", "--fail-on"],
        &["analyze", "--baseline"],
    ),
    ("elephant-rs analyze --format ", &["text", "json", "openmetrics"], &["--format", "analyze"]),
    ("elephant-rs analyze --format=js", &["json"], &["text", "--format"]),
    ("elephant-rs analyze --fail-on m", &["moderate"], &["low", "severe"]),
    (
        "elephant-rs check --rule mapper-s",
        &["mapper-skew", "mapper-spill", "mapper-speed"],
        &["mapper-gc", "gate"],
    ),
    ("elephant-rs analyze --rules ", &["dr-elephant", "dr-elephant-0.4", "Cargo.toml"], &["mapper-skew"]),
    ("elephant-rs rules ", &["list", "show", "check", "schema", "init"], &["analyze", "mapper-skew"]),
    (
        "elephant-rs rules show sp",
        &["spark-skew", "spark-executor-gc", "spark-metrics"],
        &["mapper-skew", "speculation"],
    ),
    ("elephant-rs rules show heap", &["heap-space"], &["heartbeat-timeout"]),
    (
        "elephant-rs rules reference ",
        &["app", "file", "task.gc_time", "conf_bytes"],
        &["mapper-skew", "analyze"],
    ),
    ("elephant-rs check --tolerance ", &["runtime_ms", "task_time_ms"], &["Cargo.toml", "kind"]),
    ("elephant-rs nodes --where ", &["kind", "weekday", "hour"], &["Cargo.toml", "runtime_ms"]),
    ("elephant-rs rules reference task.gc", &["task.gc_time"], &["task.run_time"]),
];

#[track_caller]
fn completes(shell: &str) {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("_elephant-rs");
    let output =
        assert_cmd::Command::cargo_bin("elephant-rs").unwrap().args(["completions", shell]).output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty());
    std::fs::write(&script, output.stdout).unwrap();
    for (line, expected, wrong) in EXPECTED {
        let Some(words) = complete(shell, &script, line) else { return };
        let has = |word: &&&str| words.iter().any(|known| known == **word);
        assert!(expected.iter().all(|word| has(&word)), "{shell}: {line}: {words:?}");
        assert!(!wrong.iter().any(|word| has(&word)), "{shell}: {line}: {words:?}");
    }
}

#[test]
fn bash_completes_commands_options_and_values() {
    completes("bash");
}

#[test]
fn zsh_completes_commands_options_and_values() {
    completes("zsh");
}

#[test]
fn fish_completes_commands_options_and_values() {
    completes("fish");
}
