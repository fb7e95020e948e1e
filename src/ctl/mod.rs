//! `formctl`: the administrator's tool. Blocking, one command a process, whether the daemon runs or not.
//!
//! Each command is a file here: its options with their help, and a `run` that asks the store, decides, and prints
//! through [`print::Output`]. What is shown is composed by pure functions, so that whole outputs stand in
//! snapshots. Exit codes are the contract's (15.3): 0 done, 1 failed or refused, 2 usage, 3 not found, 4 in
//! progress or pending; `status` answers like a monitoring plugin.
//!
//! Run by root, it switches to the owner of the data directory before it opens that ([`owner`]), so that it never
//! leaves files the daemon cannot read. A command that is killed leaves nothing half done: what the store began
//! is one transaction, an output file appears whole or not at all.

mod attachment;
mod backup;
mod check;
mod completions;
mod deliver;
mod deliveries;
mod erase;
mod export;
mod foresight;
mod import;
mod installation;
mod list;
mod lookup;
mod moment;
mod newfile;
mod outcome;
mod owner;
mod print;
mod receipt;
mod release;
mod reload;
mod resend;
mod restore;
#[cfg(test)]
mod scenes;
mod show;
mod status;
mod sweep;
#[cfg(test)]
mod testing;
mod trial;
mod verify;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::clock::Clock;
use installation::Installation;
use outcome::{CommandError, Exit, Kind};
pub use print::{Output, Surface};

/// What an administrator does with formd: read, resend, erase, and see whether all is well.
#[derive(Debug, Parser)]
#[command(
    name = "formctl",
    version,
    arg_required_else_help = true,
    subcommand_required = true,
    disable_help_subcommand = true,
    after_help = EXIT_CODES
)]
struct Cli {
    /// The daemon's settings, `sites/` beside it [default: /etc/formd/formd.toml; none there: the embedded demo].
    #[arg(long, global = true, value_name = "FILE", env = "FORMD_CONFIG", hide_env_values = true)]
    config: Option<PathBuf>,
    /// What to do.
    #[command(subcommand)]
    command: Command,
}

/// What stands under the list of commands.
const EXIT_CODES: &str = "\
Receipts may be shortened to any unique beginning. `formctl COMMAND --help` has an example of each.

Exit codes: 0 done, 1 failed or refused, 2 usage, 3 not found (or several begin so), 4 in progress \
or pending; `status`: 0 ok, 1 warning, 2 critical, 3 unknown.";

/// The commands, in the order in which one meets them.
#[derive(Debug, Subcommand)]
enum Command {
    /// List receipts, latest first.
    List(list::Args),
    /// Show one receipt with its values, files and deliveries.
    Show(show::Args),
    /// Save the files of a receipt.
    Attachment(attachment::Args),
    /// List what waits and what failed; acknowledge failures.
    Deliveries(deliveries::Args),
    /// Send a delivery again.
    Resend(resend::Args),
    /// Send what was held as spam.
    Release(release::Args),
    /// Erase values for good; the receipt stays.
    Erase(erase::Args),
    /// Copy all kept values out: CSV, JSON Lines, or a ZIP with the files.
    Export(export::Args),
    /// Erase what expired and clear what was left behind.
    Sweep(sweep::Args),
    /// Send what is due now and end: one run of the queue.
    Deliver(deliver::Args),
    /// Take over what another form service had accepted.
    Import(import::Args),
    /// Send a test through a form and say what became of it.
    Test(trial::Args),
    /// Say whether all is well.
    Status(status::Args),
    /// Make a backup while the daemon runs.
    Backup(backup::Args),
    /// Put a backup into an empty data directory.
    Restore(restore::Args),
    /// Prove that every row has its file and every file its row.
    Verify(verify::Args),
    /// Check the configuration files.
    Check(check::Args),
    /// Put the configuration files in force.
    Reload(reload::Args),
    /// Print a completion script for a shell.
    Completions(completions::Args),
}

/// The bin: the process's own arguments, outputs and clock.
pub fn main() -> ExitCode {
    let mut out = Output::system();
    ExitCode::from(start(&std::env::args_os().collect::<Vec<_>>(), &Clock::system(), &mut out, Privilege::Switch))
}

/// One command inside this process, as tests call it; returns the exit code. `args` begin with the program's
/// name. Never changes the user it runs as.
pub fn run(args: impl IntoIterator<Item = OsString>, clock: &Clock, out: &mut Output<'_>) -> u8 {
    start(&args.into_iter().collect::<Vec<_>>(), clock, out, Privilege::Keep)
}

/// What root does before the data directory is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Privilege {
    /// Become the owner of the data directory.
    Switch,
    /// Stay who we are.
    Keep,
}

/// Parses, carries out, and turns what came of it into an exit code.
fn start(args: &[OsString], clock: &Clock, out: &mut Output<'_>, privilege: Privilege) -> u8 {
    let ended = match parse(args, out.width()) {
        Ok(cli) => switched(&cli, args, out, privilege)
            .and_then(|code| code.map_or_else(|| carry_out(&cli, clock, out, privilege).map(Exit::code), Ok)),
        Err(error) => out.parser_message(&error).map(|()| if error.use_stderr() { 2 } else { 0 }),
    };
    let flushed = out.flush();
    match ended.and_then(|code| flushed.map(|()| code)) {
        Ok(code) => code,
        Err(error) => {
            out.error(&error);
            error.code()
        }
    }
}

/// Reads the arguments; help is wrapped to `width`.
fn parse(args: &[OsString], width: usize) -> Result<Cli, clap::Error> {
    let matches = Cli::command().term_width(width).try_get_matches_from(args)?;
    Cli::from_arg_matches(&matches)
}

/// The exit code of the same command run as the owner of the data directory; `None` when there is no need.
fn switched(
    cli: &Cli,
    args: &[OsString],
    out: &mut Output<'_>,
    privilege: Privilege,
) -> Result<Option<u8>, CommandError> {
    if privilege == Privilege::Keep || !cli.command.opens_data_directory() {
        return Ok(None);
    }
    let place = installation::data_dir_unchecked(cli.config.as_deref());
    if let (Command::Status(_), Err(_)) = (&cli.command, &place) {
        // It opens nothing then, and has its own words for it on standard output.
        return Ok(None);
    }
    let owner = place.and_then(|path| owner::to_become(&path));
    let Some(owner) = owner.map_err(|error| cli.command.blame(error))? else {
        return match cli.command {
            Command::Restore(_) => restore::refuse_without_owner(cli.config.as_deref()).map(|()| None),
            _ => Ok(None),
        };
    };
    match &cli.command {
        Command::Attachment(args) if args.writes_a_file() => {
            attachment::run_for_root(args, owner, cli.config.as_deref(), out).map(|exit| Some(exit.code()))
        }
        Command::Import(args) => import::run_for_root(args, owner, cli.config.as_deref()).map(Some),
        Command::Export(export) => {
            export::run_for_root(export, args, owner, cli.config.as_deref()).map(|exit| Some(exit.code()))
        }
        Command::Backup(backup) => backup::run_for_root(backup, owner, args).map(Some),
        Command::Restore(restore) => restore::run_for_root(restore, owner, cli.config.as_deref()).map(Some),
        _ => owner.run_again(args.get(1..).unwrap_or_default()).map(Some),
    }
}

impl Command {
    /// The error of this command: what keeps `status` from looking makes the answer unknown.
    fn blame(&self, error: CommandError) -> CommandError {
        if matches!(self, Self::Status(_)) { CommandError { kind: Kind::Unknown, ..error } } else { error }
    }

    /// Whether it opens the data directory, and so must run as its owner.
    fn opens_data_directory(&self) -> bool {
        match self {
            Self::List(_)
            | Self::Show(_)
            | Self::Attachment(_)
            | Self::Deliveries(_)
            | Self::Resend(_)
            | Self::Release(_)
            | Self::Erase(_)
            | Self::Export(_)
            | Self::Sweep(_)
            | Self::Deliver(_)
            | Self::Import(_)
            | Self::Test(_)
            | Self::Status(_)
            | Self::Backup(_)
            | Self::Restore(_)
            | Self::Reload(_) => true,
            Self::Verify(args) => args.looks_at_data_directory(),
            Self::Check(_) | Self::Completions(_) => false,
        }
    }
}

/// Carries one command out.
fn carry_out(cli: &Cli, clock: &Clock, out: &mut Output<'_>, privilege: Privilege) -> Result<Exit, CommandError> {
    let installation = || Installation::find(cli.config.as_deref());
    let now = clock.now();
    match &cli.command {
        Command::List(args) => list::run(args, &installation(), now, out),
        Command::Show(args) => show::run(args, &installation(), now, out),
        Command::Attachment(args) => attachment::run(args, &installation(), now, out),
        Command::Deliveries(args) => deliveries::run(args, &installation(), now, out),
        Command::Resend(args) => resend::run(args, &installation(), now, out),
        Command::Release(args) => release::run(args, &installation(), now, out),
        Command::Erase(args) => erase::run(args, &installation(), now, out),
        Command::Export(args) => export::run(args, &installation(), clock, out),
        Command::Sweep(args) => sweep::run(args, &installation(), clock.reading(), out),
        Command::Deliver(args) => deliver::run(args, &logging(installation(), privilege), clock, out),
        Command::Import(args) => import::run(args, &installation(), clock, out),
        Command::Test(args) => trial::run(args, &logging(installation(), privilege), clock, out),
        Command::Status(args) => status::run(args, &installation(), now, out),
        Command::Backup(args) => backup::run(args, &installation(), now, out),
        Command::Restore(args) => restore::run(args, &installation(), now, out),
        Command::Verify(args) => verify::run(args, &installation(), now, out),
        Command::Check(args) => {
            let file = cli.config.as_deref();
            let owner = match privilege {
                Privilege::Switch => installation::owner(file).map(|owner| (owner, file)),
                Privilege::Keep => None,
            };
            check::run(args, &installation(), owner, out)
        }
        Command::Reload(_) => reload::run(&installation(), out),
        Command::Completions(args) => completions::run(args, Cli::command(), out),
    }
}

/// What sends here, where the daemon may not, logs here what its operator has to hear of: failures for good, by the same
/// events and in the same form, on standard error.
fn logging(installation: Installation, privilege: Privilege) -> Installation {
    if let (Privilege::Switch, Ok(config)) = (privilege, installation.declared()) {
        crate::log::start(config.daemon.log, tracing::Level::WARN);
    }
    installation
}

#[cfg(test)]
mod tests {
    use super::testing::ctl;

    #[test]
    fn the_tree_of_commands_is_sound() {
        <super::Cli as clap::CommandFactory>::command().debug_assert();
    }

    #[test]
    fn help_is_written_for_a_tired_administrator() {
        insta::assert_snapshot!("help", ctl(&["--help"]));
        for command in [
            "list",
            "show",
            "attachment",
            "deliveries",
            "resend",
            "release",
            "erase",
            "export",
            "sweep",
            "deliver",
            "import",
            "test",
            "status",
            "backup",
            "restore",
            "verify",
            "check",
            "reload",
            "completions",
        ] {
            insta::assert_snapshot!(format!("help_{command}"), ctl(&[command, "--help"]));
        }
    }

    #[test]
    fn usage_mistakes_end_with_2_and_say_what_was_meant() {
        for args in [
            &["lst"][..],
            &[],
            &["list", "--state", "lost"],
            &["list", "--limit", "0"],
            &["list", "--limit", "5", "--all"],
            &["list", "--since", "yesterday"],
            &["show"],
            &["deliveries", "--state", "delivered"],
            &["deliveries", "--ack", "--release"],
            &["deliveries", "4abc-d1"],
            &["resend"],
            &["resend", "4abc", "--failed"],
            &["erase"],
            &["erase", "--site", "acme"],
            &["erase", "4abc", "--before", "30d"],
            &["erase", "--before", "30d"],
            &["erase", "--where", "email"],
            &["export"],
            &["export", "--format", "xlsx"],
            &["export", "--format", "csv", "--tz", "Berlin"],
            &["export", "--format", "jsonl", "--excel"],
            &["export", "--format", "jsonl", "--tz", "UTC"],
            &["status", "--json", "--check"],
            &["status", "--warn-free", "many"],
            &["backup"],
            &["backup", "x", "--keep", "0"],
            &["restore"],
            &["test"],
            &["release"],
            &["import", "export.csv"],
            &["import", "export.csv", "--from", "netlify"],
            &["import", "export.csv", "--from", "basin", "--form", "acme/quote"],
            &["test", "acme/quote", "--set", "name"],
            &["completions", "cmd.exe"],
        ] {
            let ended = ctl(args);
            assert!(ended.starts_with("exit 2\n"), "{args:?}: {ended}");
        }
    }

    #[test]
    fn the_version_goes_to_standard_output() {
        assert_eq!(ctl(&["--version"]), format!("exit 0\n--- stdout\nformctl {}\n", env!("CARGO_PKG_VERSION")));
    }
}
