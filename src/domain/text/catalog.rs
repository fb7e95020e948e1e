//! Every text a visitor can read, once: its name, its places, what it is for.
//!
//! From the list the macro makes three things: [`BuiltIn`], which each language fills; the methods of [`Texts`], which
//! look for the site's own wording first; and [`CATALOG`], against which a configuration's names are checked.

use std::sync::Arc;

use super::Notice;
use super::language::Language;
use super::overrides::Overrides;

/// A text as the configuration names it.
#[derive(Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name.
    pub name: &'static str,
    /// Its places, each written `{place}`.
    pub places: &'static [&'static str],
}

/// The texts of one language as one site words them. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Texts {
    /// The language.
    language: Language,
    /// Its built-in words.
    built_in: &'static BuiltIn,
    /// The site's own.
    overrides: Option<Arc<Overrides>>,
}

impl Texts {
    /// A language's words, with a site's own in their place.
    pub(super) fn new(language: Language, built_in: &'static BuiltIn, overrides: Option<Arc<Overrides>>) -> Self {
        Self { language, built_in, overrides }
    }

    /// The language.
    pub fn language(&self) -> Language {
        self.language
    }

    /// A number of bytes for a reader: `5 MB`.
    pub fn size(&self, bytes: u64) -> String {
        (self.built_in.size)(bytes)
    }

    /// The site's own wording of a text without places.
    fn own(&self, name: &str) -> Option<&str> {
        self.overrides.as_deref()?.plain(name)
    }
}

/// Makes the built-in list, the methods and the catalog of the texts it is given.
macro_rules! texts {
    (
        plain { $( $(#[$plain_doc:meta])* $plain:ident, )* }
        filled { $( $(#[$filled_doc:meta])* $filled:ident ( $( $place:ident : $kind:ty ),* ), )* }
        notices { $( $(#[$notice_doc:meta])* $notice:ident, )* }
    ) => {
        /// All texts of one language.
        #[derive(Debug)]
        pub(super) struct BuiltIn {
            /// A number of bytes for a reader.
            pub(super) size: fn(u64) -> String,
            $( $(#[$plain_doc])* pub(super) $plain: &'static str, )*
            $( $(#[$filled_doc])* pub(super) $filled: fn($( $kind ),*) -> String, )*
            $( $(#[$notice_doc])* pub(super) $notice: Notice<'static>, )*
        }

        impl Texts {
            $(
                $(#[$plain_doc])*
                pub fn $plain(&self) -> &str {
                    self.own(stringify!($plain)).unwrap_or(self.built_in.$plain)
                }
            )*
            $(
                $(#[$filled_doc])*
                pub fn $filled(&self, $( $place: $kind ),*) -> String {
                    let own = self.overrides.as_deref().and_then(|overrides| {
                        overrides.filled(stringify!($filled), &[$( (stringify!($place), $place.to_string()) ),*])
                    });
                    own.unwrap_or_else(|| (self.built_in.$filled)($( $place ),*))
                }
            )*
            $(
                $(#[$notice_doc])*
                pub fn $notice(&self) -> Notice<'_> {
                    let built_in = self.built_in.$notice;
                    Notice {
                        title: self.own(concat!(stringify!($notice), "_title")).unwrap_or(built_in.title),
                        detail: self.own(concat!(stringify!($notice), "_detail")).unwrap_or(built_in.detail),
                    }
                }
            )*
        }

        /// The names and places of all texts.
        pub const CATALOG: &[Entry] = &[
            $( Entry { name: stringify!($plain), places: &[] }, )*
            $( Entry { name: stringify!($filled), places: &[$( stringify!($place) ),*] }, )*
            $(
                Entry { name: concat!(stringify!($notice), "_title"), places: &[] },
                Entry { name: concat!(stringify!($notice), "_detail"), places: &[] },
            )*
        ];

        /// Every text of a language with its places filled by marks, in the order of [`CATALOG`].
        #[cfg(test)]
        pub(super) fn marked(texts: &Texts) -> Vec<String> {
            use super::tests::Mark;
            vec![
                $( texts.$plain().to_owned(), )*
                $( texts.$filled($( <$kind as Mark>::mark(stringify!($place)) ),*), )*
                $( texts.$notice().title.to_owned(), texts.$notice().detail.to_owned(), )*
            ]
        }
    };
}

texts! {
    plain {
        /// Title of the thank-you page.
        thanks_title,
        /// What stands below it; also the `message` of a JSON success.
        thanks_message,
        /// The link back to the page the form stands on.
        back,
        /// Title of a form that declares none.
        form_title,
        /// The label of `name` where a form declares nothing.
        label_name,
        /// The label of `email` there.
        label_email,
        /// The label of `message` there.
        label_message,
        /// The label of `file` there.
        label_file,
        /// The button that sends.
        send,
        /// The line that explains the mark of required fields.
        required_note,
        /// The first choice of a select that has none yet.
        choose,
        /// Beside a file input of a form that is shown again.
        choose_again,
        /// The accessible name of the list of faults.
        faults_label,
        /// The accessible prefix of a message at its field.
        fault_prefix,
        /// The button of the conflict page.
        send_as_new,
        /// The text could not be kept, but the browser has it.
        go_back,
        /// An example of an e-mail address.
        email_hint,
        /// An example of a web address.
        url_hint,
        /// An example of a number.
        number_hint,
        /// An example of a date.
        date_hint,
        /// How to be rid of control characters.
        control_character_hint,
        /// How to mend a file that is not what its name says.
        file_contradicts_hint,
        /// How to make a file smaller.
        file_too_large_hint,
        /// How to open an office file to us.
        file_encrypted_hint,
        /// What to do about an office file that unpacks to too much.
        file_overpacked_hint,
        /// What to send instead of an archive.
        file_archive_hint,
        /// What to send instead of film and sound.
        file_media_hint,
        /// Stands for the name of a file that has none.
        unnamed_file,
        /// Subject of the mail that confirms a submission; the form's title follows.
        confirmation_subject,
        /// The last lines of that mail: why it came, and what to do about it.
        confirmation_reason,
    }
    filled {
        /// The line with the receipt.
        receipt_line(receipt: &str),
        /// Below a file input that takes one file: the largest size, as [`Texts::size`] writes it.
        max_size(size: &str),
        /// Below a file input that takes several files.
        max_files(count: u64, size: &str),
        /// Below a file input that takes certain kinds, such as `PDF, PNG`.
        file_kinds(kinds: &str),
        /// When to come again, in seconds.
        again_in_seconds(count: u64),
        /// When to come again, in minutes.
        again_in_minutes(count: u64),
        /// The number of an error, as it stands in the log.
        error_number(number: &str),
        /// Nothing was given.
        required(label: &str),
        /// A box was not ticked.
        required_tick(label: &str),
        /// No option was chosen.
        required_choice(label: &str),
        /// No file was chosen.
        required_file(label: &str),
        /// Too short.
        too_short(label: &str, min: u64),
        /// Too long.
        too_long(label: &str, max: u64),
        /// Does not match the pattern.
        pattern(label: &str),
        /// No e-mail address.
        email(label: &str),
        /// No web address.
        url(label: &str),
        /// No number.
        number(label: &str),
        /// A number that is too small.
        number_min(label: &str, min: &str),
        /// A number that is too large.
        number_max(label: &str, max: &str),
        /// No date.
        date(label: &str),
        /// Too early a date.
        date_min(label: &str, min: &str),
        /// Too late a date.
        date_max(label: &str, max: &str),
        /// Not one of the options.
        option(label: &str),
        /// Sent more than once.
        repeated(label: &str),
        /// A line break in a line.
        line_break(label: &str),
        /// A control character.
        control_character(label: &str),
        /// Bytes that are no text.
        not_text(label: &str),
        /// An object or a list where a text belongs.
        nested(label: &str),
        /// A field the form does not have.
        unknown_field(label: &str),
        /// A file the form does not ask for.
        unknown_file(label: &str),
        /// A text where a file belongs.
        file_expected(label: &str),
        /// A file where a text belongs.
        text_expected(label: &str),
        /// A file of 0 bytes.
        file_empty(file: &str),
        /// A kind that is not taken.
        file_type(file: &str),
        /// The kinds that are.
        file_type_hint(kinds: &str),
        /// A file that is not what its name says.
        file_contradicts(file: &str, extension: &str),
        /// A file that was cut on the way.
        file_damaged(file: &str),
        /// A photo as iPhones take it.
        file_heic(file: &str),
        /// How to send it.
        file_heic_hint(kinds: &str),
        /// An office file from before 2007.
        file_old_office(file: &str),
        /// As what to save a file.
        file_save_as_hint(kinds: &str),
        /// An office file with a password.
        file_encrypted(file: &str),
        /// An office file with macros.
        file_macros(file: &str),
        /// As what to save it.
        file_macros_hint(kinds: &str),
        /// An office template, or a slide show that starts by itself.
        file_template(file: &str),
        /// A file that unpacks to far more than it should.
        file_overpacked(file: &str),
        /// An archive.
        file_archive(file: &str),
        /// A document of another kind.
        file_document(file: &str),
        /// A picture of another kind.
        file_image(file: &str),
        /// Film or sound.
        file_media(file: &str),
        /// A web page.
        file_html(file: &str),
        /// An SVG drawing.
        file_svg(file: &str),
        /// A script.
        file_script(file: &str),
        /// A program.
        file_program(file: &str),
        /// Two words to choose from: `DOCX or PDF`.
        either(first: &str, second: &str),
        /// Too large a file.
        file_too_large(file: &str, max: &str),
        /// Too many files at a field or in all.
        files_too_many(label: &str, max: u64),
        /// All files together are too large.
        files_total(max: &str),
    }
    notices {
        /// 422: fields are at fault.
        invalid,
        /// 413: only files are too large; the fields say which.
        files_too_large,
        /// 403: site or form is closed.
        form_closed,
        /// 403: the page's origin may not post here.
        origin_refused,
        /// 401: the body is not signed, or not by whom it must be.
        signature,
        /// 404: no such address.
        not_found,
        /// 405: a form is sent with POST.
        method_not_allowed,
        /// 400: the body cannot be read.
        malformed,
        /// 400: the request itself breaks HTTP.
        bad_request,
        /// 400: two submission keys, or none that can be one.
        bad_key,
        /// 409: the key was used for another message.
        key_conflict,
        /// 413: more bytes than the form takes.
        too_large,
        /// 413: more fields, parts or longer values than any form takes.
        too_much,
        /// 415: not one of the three types of body.
        unsupported_type,
        /// 429: too many from this address.
        rate_limited,
        /// 408: the body came too slowly.
        too_slow,
        /// 503: busy, or the disk is full.
        unavailable,
        /// 500: a fault of the program.
        server_error,
        /// 431: the head of the request is too large.
        header_too_large,
    }
}

impl Texts {
    /// When to come again, in the unit a person would use.
    pub fn again_in(&self, secs: u64) -> String {
        if secs <= 90 { self.again_in_seconds(secs) } else { self.again_in_minutes(secs.saturating_add(59) / 60) }
    }
}
