//! What `formd` says when it runs its embedded default: where the page is, and a command that works as printed.

/// A one-page PDF for `printf`; `%` is doubled and nothing needs quoting inside single quotes.
const SAMPLE: &str = "%%PDF-1.4\\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\\n\
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\\n3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 200]>>endobj\\n\
trailer<</Root 1 0 R>>\\nstartxref\\n9\\n%%%%EOF\\n";

/// The text printed at the start of a demo: `address` is where it listens, `formctl` how to call the tool.
pub fn banner(address: &str, formctl: &str) -> String {
    let form = format!("http://{address}/f/demo/quote");
    format!(
        "\nformd runs its embedded default: no configuration file was found. Data goes to ./formd-data.\n\
         \n  the form as a page   {form}\n\
         \n  the form by curl, with a PDF:\n\n\
         printf '{SAMPLE}' | curl -sS {form}.json \\\n  \
         -F 'name=Anna' -F 'email=anna@example.com' -F 'message=How much is the fish?' \\\n  \
         -F 'file=@-;filename=sample.pdf;type=application/pdf'\n\
         \n  then, in this folder\n\n  \
         {formctl} list\n  {formctl} show RECEIPT\n  ls formd-data/mail\n\
         \nCtrl-C ends it.\n"
    )
}
