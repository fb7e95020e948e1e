//! `formctl completions`: a completion script from the one definition of the commands.

use clap::Command;
use clap_complete::{Shell, generate};

use super::outcome::{CommandError, Exit};
use super::print::Output;

/// Which shell.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  formctl completions bash > /etc/bash_completion.d/formctl
  formctl completions zsh > ~/.zfunc/_formctl
  formctl completions fish > ~/.config/fish/completions/formctl.fish")]
pub struct Args {
    /// The shell.
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

/// Prints the script. It is made in memory first: the generator knows no output errors.
pub fn run(args: &Args, mut tree: Command, out: &mut Output<'_>) -> Result<Exit, CommandError> {
    let mut script = Vec::new();
    generate(args.shell, &mut tree, "formctl", &mut script);
    out.text(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    use crate::ctl::testing::ctl;

    #[test]
    fn every_shell_gets_a_script_that_knows_the_commands() {
        for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
            let ended = ctl(&["completions", shell]);
            assert!(ended.starts_with("exit 0\n") && ended.contains("attachment"), "{shell}");
        }
    }
}
