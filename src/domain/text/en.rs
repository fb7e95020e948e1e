//! English.

use super::Notice;
use super::catalog::BuiltIn;

/// The texts.
pub(super) const TEXTS: BuiltIn = BuiltIn {
    thanks_title: "Thank you!",
    thanks_message: "Your message has arrived safely.",
    receipt_line: |receipt| format!("Your receipt number: {receipt}"),
    back: "Back to the page",

    form_title: "Contact form",
    send: "Send",
    required_note: "Fields marked * must be filled in.",
    choose: "Please choose",
    max_size: |size| format!("At most {size}."),
    max_files: |count, size| format!("At most {count} files, {size} each."),
    file_kinds: |kinds| format!("Accepted: {kinds}."),
    choose_again: "Please choose your files again: the browser does not keep them.",
    faults_label: "Please check these fields",
    fault_prefix: "Error:",
    send_as_new: "Send as a new message",
    size: |bytes| super::size(bytes, ["bytes", "KB", "MB"], '.'),

    required: |label| format!("Please fill in “{label}”."),
    required_tick: |label| format!("Please tick “{label}”."),
    required_choice: |label| format!("Please choose an option for “{label}”."),
    required_file: |label| format!("Please choose a file for “{label}”."),
    too_short: |label, min| {
        format!("“{label}” is too short: please write at least {}.", super::counted(min, "character", "characters"))
    },
    too_long: |label, max| {
        format!("“{label}” is too long: please shorten it to {}.", super::counted(max, "character", "characters"))
    },
    pattern: |label| format!("“{label}” does not have the expected form: please check it."),
    email: |label| format!("“{label}” is not an e-mail address: please check it."),
    email_hint: "For example: name@example.com",
    url: |label| format!("“{label}” is not a web address: please write it in full."),
    url_hint: "For example: https://example.com",
    number: |label| format!("“{label}” must be a number: please use digits."),
    number_hint: "For example: 12.5",
    number_min: |label, min| format!("“{label}” is too small: please enter {min} or more."),
    number_max: |label, max| format!("“{label}” is too large: please enter {max} or less."),
    date: |label| format!("“{label}” is not a date: please enter year, month and day."),
    date_hint: "For example: 2026-11-30",
    date_min: |label, min| format!("“{label}” is too early: please choose {min} or later."),
    date_max: |label, max| format!("“{label}” is too late: please choose {max} or earlier."),
    option: |label| format!("That choice is not on offer for “{label}”: please choose one from the list."),
    repeated: |label| format!("“{label}” was sent more than once: please fill it in just once."),
    line_break: |label| format!("“{label}” must be one line: please remove the line breaks."),
    control_character: |label| format!("“{label}” holds invisible control characters: please remove them."),
    control_character_hint: "Text copied from another program may hold some: please type it anew.",
    not_text: |label| format!("“{label}” could not be read as text: please type it anew."),
    nested: |label| format!("“{label}” must be a plain text, not a list or an object."),
    unknown_field: |label| format!("This form has no field “{label}”: please reload the page and try again."),
    unknown_file: |label| format!("This form takes no file at “{label}”: please send it without."),
    file_expected: |label| format!("“{label}” takes a file: please choose one."),
    text_expected: |label| format!("“{label}” takes a text, not a file: please type it."),
    file_empty: |file| format!("“{file}” is empty: please choose another file."),
    file_type: |file| format!("“{file}” is of a kind that is not accepted here: please choose another file."),
    file_type_hint: |kinds| format!("Accepted: {kinds}."),
    file_contradicts: |file, extension| format!("“{file}” is not what its ending “.{extension}” says."),
    file_contradicts_hint: "Please open it, save it anew in the right format, and choose it again.",
    file_damaged: |file| format!("“{file}” is damaged or incomplete: please save it anew and choose it again."),
    file_too_large: |file, max| format!("“{file}” is too large: at most {max}."),
    file_too_large_hint: "Please choose a smaller file, or send a link to it.",
    files_too_many: |label, max| format!("Too many files at “{label}”: please choose at most {max}."),
    files_total: |max| format!("Your files are too large together: at most {max} in all. Please choose fewer."),
    unnamed_file: "unnamed file",
    confirmation_subject: "We have received your message",
    confirmation_reason: "This mail was sent automatically because this address was entered in a form on our website.\n\
                          If it was not you, there is nothing you need to do.",

    label_name: "Name",
    label_email: "E-mail",
    label_message: "Message",
    label_file: "File",
    go_back: "Go back in your browser: your text is still in the form.",
    file_encrypted_hint: "Please save it without the password and choose it again.",
    file_overpacked_hint: "Please save it anew, or split it into several smaller files.",
    file_archive_hint: "Please unpack it and send the files themselves.",
    file_media_hint: "Please send a link to it instead.",

    again_in_seconds: |count| format!("You can try again in {count} s."),
    again_in_minutes: |count| format!("You can try again in {count} min."),
    error_number: |number| format!("Number of the error: {number}"),
    file_heic: |file| format!("“{file}” is an HEIC photo, which many programs cannot open."),
    file_heic_hint: |kinds| {
        format!("Please send it as {kinds}. On an iPhone: Settings, Camera, Formats, “Most Compatible”.")
    },
    file_old_office: |file| format!("“{file}” is in an old office format."),
    file_save_as_hint: |kinds| format!("Please open it, save it as {kinds}, and choose that file."),
    file_encrypted: |file| format!("“{file}” is protected by a password."),
    file_macros: |file| format!("“{file}” contains macros."),
    file_macros_hint: |kinds| format!("Please save it without macros, as {kinds}, and choose that file."),
    file_template: |file| format!("“{file}” is a template or a self-running slide show, not a document."),
    file_overpacked: |file| format!("“{file}” is packed too tightly to be checked."),
    file_archive: |file| format!("“{file}” is an archive."),
    file_document: |file| format!("“{file}” is a document in a format that is not accepted here."),
    file_image: |file| format!("“{file}” is a picture in a format that is not accepted here."),
    file_media: |file| format!("“{file}” is a video or a sound recording."),
    file_html: |file| format!("“{file}” is a web page."),
    file_svg: |file| format!("“{file}” is an SVG drawing, which can carry programs."),
    file_script: |file| format!("“{file}” is a script; programs are not accepted."),
    file_program: |file| format!("“{file}” is a program; programs are not accepted."),
    either: |first, second| format!("{first} or {second}"),

    invalid: Notice {
        title: "Please check your entries",
        detail: "Something is missing or not quite right. Please correct the marked fields and send again.",
    },
    files_too_large: Notice { title: "A file is too large", detail: "Please choose a smaller file and send again." },
    form_closed: Notice {
        title: "This form is closed",
        detail: "It takes no messages at the moment; yours was not kept. Please try again later or reach us another way.",
    },
    signature: Notice {
        title: "This form takes signed messages only",
        detail: "The message does not carry a valid signature and was not kept. Please tell the site's owner.",
    },
    origin_refused: Notice {
        title: "This page may not send here",
        detail: "The form does not accept messages from this website. Please use the form on its own page.",
    },
    not_found: Notice {
        title: "Nothing here",
        detail: "There is no form at this address. Please check the address or go back to the page you came from.",
    },
    method_not_allowed: Notice {
        title: "This form was sent the wrong way",
        detail: "A form is sent with POST: the page's form element needs method=\"post\". Please tell the site's owner.",
    },
    malformed: Notice {
        title: "The message could not be read",
        detail: "It arrived incomplete or damaged. Please go back and send it again.",
    },
    bad_request: Notice {
        title: "The request could not be read",
        detail: "Your browser or a program in between sent something that is not valid. Please try again.",
    },
    bad_key: Notice {
        title: "The message could not be recognised",
        detail: "Its submission key is not valid. Please reload the page and send again.",
    },
    key_conflict: Notice {
        title: "This looks like another message",
        detail: "A message from this page was already received, with other content. If this is a new one, please send it as a new message.",
    },
    too_large: Notice {
        title: "The message is too large",
        detail: "It is larger than this form takes. Please choose smaller or fewer files and send again.",
    },
    too_much: Notice {
        title: "The message is too long",
        detail: "It has more fields or longer texts than this form takes. Please shorten it and send again.",
    },
    unsupported_type: Notice {
        title: "This kind of message is not accepted",
        detail: "Please send multipart/form-data, application/x-www-form-urlencoded or application/json.",
    },
    rate_limited: Notice {
        title: "Too many messages",
        detail: "Many messages came from your connection in a short time. Please wait a little and send again.",
    },
    too_slow: Notice {
        title: "The connection is too slow",
        detail: "The message did not arrive in time. Please try again, perhaps over another connection.",
    },
    unavailable: Notice {
        title: "Just a moment",
        detail: "Your message could not be saved right now. Please send it again in a minute: it will not be doubled.",
    },
    server_error: Notice {
        title: "Something went wrong on our side",
        detail: "Please send your message again in a minute: it will not be doubled.",
    },
    header_too_large: Notice {
        title: "The request is too large",
        detail: "Its head is larger than accepted, often because of many cookies. Please try again in a private window.",
    },
};
