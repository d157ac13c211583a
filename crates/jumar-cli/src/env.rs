//! `jumar env`: the same environment for a shell.

use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;

use crate::tree::Tree;
use crate::vars;

/// What `jumar env` takes.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  eval \"$(jumar env)\"
  eval \"$(jumar env --build)\" && cmake -B build && cmake --build build")]
pub struct Options {
    /// Adds variables that CMake files and Makefiles of Ascend projects read.
    #[arg(long)]
    build: bool,
    /// Prints the documentation page of all variables instead.
    #[arg(long, hide = true)]
    page: bool,
}

/// Prints.
pub fn run(options: &Options) -> Result<ExitCode> {
    if options.page {
        print!("{}", vars::page());
    } else {
        print!("{}", lines(&Tree::own()?, options.build));
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes lines for any POSIX shell; they may be evaluated under `set -u` and more than once.
fn lines(tree: &Tree, build: bool) -> String {
    let mut text = String::from("# Environment of Jumar; use it with: eval \"$(jumar env)\"\n");
    let for_builds = if build { vars::SET_FOR_BUILDS } else { &[] };
    for set in vars::SET.iter().chain(for_builds) {
        let (name, value) = (set.name, quoted(&tree.value(set)));
        let _ = match set.prepend {
            false => writeln!(text, "export {name}={value}"),
            // A folder that stands at the head already is not added again.
            true => writeln!(
                text,
                "case \":${{{name}:-}}:\" in \":\"{value}\":\"*) ;; *) {name}={value}\"${{{name}:+:${name}}}\" ;; esac; export {name}"
            ),
        };
    }
    for fact in vars::FACTS_FOR_BUILDS.iter().filter(|_| build) {
        let _ = writeln!(
            text,
            "export {}={}",
            fact.name,
            quoted(Path::new(&(fact.value)()))
        );
    }
    text
}

/// Quotes a path for a shell.
fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    fn evaluated(script: &str, name: &str, held: Option<&str>) -> String {
        let mut shell = Command::new("sh");
        shell
            .args(["-euc", &format!("{script}\nprintf %s \"${name}\"")])
            .env_remove(name);
        if let Some(held) = held {
            shell.env(name, held);
        }
        let output = shell.output().unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap()
    }

    #[test]
    fn a_shell_with_set_u_can_evaluate_the_lines_once_and_again() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("it's here");
        std::fs::create_dir_all(root.join("lib64")).unwrap();
        std::fs::write(root.join("lib64/libascendcl.so"), b"x").unwrap();
        let tree = Tree::at(&root).unwrap();
        let script = lines(&tree, true);
        let lib = root.join("lib64").display().to_string();
        assert_eq!(evaluated(&script, "LD_LIBRARY_PATH", None), lib);
        assert_eq!(
            evaluated(&script, "LD_LIBRARY_PATH", Some("/a:/b")),
            format!("{lib}:/a:/b")
        );
        let twice = format!("{script}\n{script}");
        assert_eq!(
            evaluated(&twice, "LD_LIBRARY_PATH", Some("/a")),
            format!("{lib}:/a")
        );
        assert_eq!(evaluated(&script, "CPU_ARCH", None), std::env::consts::ARCH);
        assert!(evaluated(&script, "SOC_VERSION", None).starts_with("Ascend"));
        assert_eq!(
            evaluated(&script, "DDK_PATH", None),
            root.display().to_string()
        );
    }
}
