//! `jumar bundle`: several offline models in one file, for the functions `aclmdlBundle...`.

use std::fs;
use std::io::BufWriter;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result, anyhow};
use jumar::offline::graph::{self, files};

/// What `jumar bundle` takes.
#[derive(clap::Args)]
#[command(after_help = "Example:
  jumar bundle --output both.om first.om second.om")]
pub struct Options {
    /// The file to write.
    #[arg(short, long)]
    output: PathBuf,
    /// The models (.om), in the order of aclmdlBundleGetModelId.
    #[arg(required = true)]
    models: Vec<PathBuf>,
}

/// Writes the bundle. A file under its name is complete or not there.
pub fn run(options: &Options) -> Result<ExitCode> {
    let models = options
        .models
        .iter()
        .map(|path| files::read(path, files::LARGEST).with_context(|| path.display().to_string()))
        .collect::<Result<Vec<_>>>()?;
    let mut name = options.output.clone().into_os_string();
    name.push(format!(".{}.part", std::process::id()));
    let temporary = PathBuf::from(name);
    let written = fs::File::create(&temporary)
        .map_err(anyhow::Error::from)
        .and_then(|file| {
            graph::write_bundle(&models, &mut BufWriter::new(file))
                .map_err(|error| anyhow!("{error}"))
        })
        .and_then(|()| Ok(fs::rename(&temporary, &options.output)?));
    if written.is_err() {
        // The first error is returned.
        let _ = fs::remove_file(&temporary);
    }
    written.with_context(|| options.output.display().to_string())?;
    println!("{}: {} models", options.output.display(), models.len());
    Ok(ExitCode::SUCCESS)
}
