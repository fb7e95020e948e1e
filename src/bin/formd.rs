//! The daemon's command line.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a bin is where a program speaks")]

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
    match formd::formd_main(options, &mut |text| println!("{text}")) {
        Ok(()) => ExitCode::SUCCESS,
        Err(ended) => {
            eprintln!("formd: {}", ended.text);
            ExitCode::from(ended.code)
        }
    }
}
