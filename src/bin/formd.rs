//! The daemon's command line.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use formd::{Demo, Options};

/// Takes forms, keeps them, delivers them. Without a configuration file it runs an embedded demo.
#[derive(Debug, Parser)]
#[command(name = "formd", version, after_help = "SIGHUP publishes changed files; SIGTERM ends in order.")]
struct Args {
    /// Configuration file; site files stand in `sites/` beside it [default: /etc/formd/formd.toml where it exists]
    #[arg(long, value_name = "FILE", env = "FORMD_CONFIG")]
    config: Option<PathBuf>,
    /// Run the embedded demo whatever files there are
    #[arg(long)]
    demo: bool,
    /// Listen here instead: ADDRESS:PORT or unix:PATH
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,
}

fn main() -> ExitCode {
    let args = Args::parse();
    let demo = if args.demo { Demo::Yes } else { Demo::No };
    let options = Options { config: args.config, demo, listen: args.listen };
    // Whoever read our output may have left, as `head` does: the daemon goes on.
    let mut say = |text: &str| drop(writeln!(std::io::stdout(), "{text}"));
    match formd::formd_main(options, &mut say) {
        Ok(()) => ExitCode::SUCCESS,
        Err(ended) => {
            drop(writeln!(std::io::stderr(), "formd: {}", ended.text));
            ExitCode::from(ended.code)
        }
    }
}
