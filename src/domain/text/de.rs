//! German.

use super::Notice;
use super::catalog::BuiltIn;

/// The texts.
pub(super) const TEXTS: BuiltIn = BuiltIn {
    thanks_title: "Vielen Dank!",
    thanks_message: "Ihre Nachricht ist sicher angekommen.",
    receipt_line: |receipt| format!("Ihre Vorgangsnummer: {receipt}"),
    back: "Zurück zur Seite",

    form_title: "Kontaktformular",
    label_name: "Name",
    label_email: "E-Mail-Adresse",
    label_message: "Nachricht",
    label_file: "Datei",
    send: "Absenden",
    required_note: "Felder mit * müssen ausgefüllt werden.",
    choose: "Bitte wählen",
    max_size: |size| format!("Höchstens {size}."),
    max_files: |count, size| format!("Höchstens {}, je bis {size}.", files(count)),
    file_kinds: |kinds| format!("Möglich sind {kinds}."),
    choose_again: "Bitte wählen Sie Ihre Dateien noch einmal aus: Der Browser merkt sie sich nicht.",
    faults_label: "Bitte prüfen Sie diese Felder",
    fault_prefix: "Fehler:",
    send_as_new: "Als neue Nachricht senden",
    go_back: "Gehen Sie im Browser zurück: Ihr Text steht noch im Formular.",
    again_in_seconds: |count| format!("In {count} s können Sie es noch einmal versuchen."),
    again_in_minutes: |count| format!("In {count} min können Sie es noch einmal versuchen."),
    error_number: |number| format!("Nummer des Fehlers: {number}"),
    size: |bytes| super::size(bytes, ["Byte", "KB", "MB"], ','),

    required: |label| format!("Bitte füllen Sie „{label}“ aus."),
    required_tick: |label| format!("Bitte setzen Sie das Häkchen bei „{label}“."),
    required_choice: |label| format!("Bitte wählen Sie etwas bei „{label}“ aus."),
    required_file: |label| format!("Bitte wählen Sie eine Datei bei „{label}“ aus."),
    too_short: |label, min| format!("„{label}“ ist zu kurz: Bitte schreiben Sie mindestens {min} Zeichen."),
    too_long: |label, max| format!("„{label}“ ist zu lang: Bitte kürzen Sie auf {max} Zeichen."),
    pattern: |label| format!("„{label}“ hat nicht die erwartete Form: Bitte prüfen Sie die Angabe."),
    email: |label| format!("„{label}“ ist keine E-Mail-Adresse: Bitte prüfen Sie die Angabe."),
    email_hint: "Zum Beispiel: name@example.com",
    url: |label| format!("„{label}“ ist keine Webadresse: Bitte schreiben Sie sie vollständig."),
    url_hint: "Zum Beispiel: https://example.com",
    number: |label| format!("„{label}“ muss eine Zahl sein: Bitte verwenden Sie Ziffern."),
    number_hint: "Zum Beispiel: 12.5",
    number_min: |label, min| format!("„{label}“ ist zu klein: Bitte geben Sie {min} oder mehr ein."),
    number_max: |label, max| format!("„{label}“ ist zu groß: Bitte geben Sie {max} oder weniger ein."),
    date: |label| format!("„{label}“ ist kein Datum: Bitte geben Sie Jahr, Monat und Tag an."),
    date_hint: "Zum Beispiel: 2026-11-30",
    date_min: |label, min| format!("„{label}“ ist zu früh: Bitte wählen Sie {min} oder später."),
    date_max: |label, max| format!("„{label}“ ist zu spät: Bitte wählen Sie {max} oder früher."),
    option: |label| format!("Diese Auswahl gibt es bei „{label}“ nicht: Bitte wählen Sie aus der Liste."),
    repeated: |label| format!("„{label}“ kam mehrmals an: Bitte füllen Sie es nur einmal aus."),
    line_break: |label| format!("„{label}“ muss in einer Zeile stehen: Bitte entfernen Sie die Zeilenumbrüche."),
    control_character: |label| format!("„{label}“ enthält unsichtbare Steuerzeichen: Bitte entfernen Sie sie."),
    control_character_hint: "Sie kommen oft beim Kopieren hinein: Bitte tippen Sie den Text neu.",
    not_text: |label| format!("„{label}“ war nicht als Text lesbar: Bitte tippen Sie es neu."),
    nested: |label| format!("„{label}“ muss ein einfacher Text sein, keine Liste und kein Objekt."),
    unknown_field: |label| {
        format!(
            "Dieses Formular hat kein Feld „{label}“: Bitte laden Sie die Seite neu und versuchen Sie es noch einmal."
        )
    },
    unknown_file: |label| format!("Bei „{label}“ nimmt dieses Formular keine Datei an: Bitte senden Sie es ohne."),
    file_expected: |label| format!("Zu „{label}“ gehört eine Datei: Bitte wählen Sie eine aus."),
    text_expected: |label| format!("Zu „{label}“ gehört ein Text, keine Datei: Bitte schreiben Sie ihn."),
    file_empty: |file| format!("„{file}“ ist leer: Bitte wählen Sie eine andere Datei."),
    file_type: |file| format!("Dateien wie „{file}“ werden hier nicht angenommen: Bitte wählen Sie eine andere."),
    file_type_hint: |kinds| format!("Möglich sind {kinds}."),
    file_contradicts: |file, extension| format!("„{file}“ ist nicht, was die Endung „.{extension}“ sagt."),
    file_contradicts_hint: "Bitte öffnen Sie die Datei, speichern Sie sie neu im richtigen Format und wählen Sie sie wieder aus.",
    file_damaged: |file| {
        format!(
            "„{file}“ ist beschädigt oder unvollständig: Bitte speichern Sie die Datei neu und wählen Sie sie wieder aus."
        )
    },
    file_heic: |file| format!("„{file}“ ist ein HEIC-Foto, das viele Programme nicht öffnen können."),
    file_heic_hint: |kinds| {
        format!(
            "Bitte senden Sie es als {kinds}. Auf dem iPhone: Einstellungen, Kamera, Formate, „Maximale Kompatibilität“."
        )
    },
    file_old_office: |file| format!("„{file}“ hat ein altes Office-Format."),
    file_save_as_hint: |kinds| {
        format!("Bitte öffnen Sie die Datei, speichern Sie sie als {kinds} und wählen Sie die neue Datei aus.")
    },
    file_encrypted: |file| format!("„{file}“ ist mit einem Passwort geschützt."),
    file_encrypted_hint: "Bitte speichern Sie die Datei ohne Passwort und wählen Sie sie wieder aus.",
    file_macros: |file| format!("„{file}“ enthält Makros."),
    file_macros_hint: |kinds| {
        format!("Bitte speichern Sie die Datei ohne Makros, als {kinds}, und wählen Sie die neue Datei aus.")
    },
    file_template: |file| format!("„{file}“ ist eine Vorlage oder eine selbst startende Präsentation, kein Dokument."),
    file_overpacked: |file| format!("„{file}“ ist zu stark gepackt und lässt sich nicht prüfen."),
    file_overpacked_hint: "Bitte speichern Sie die Datei neu oder teilen Sie sie in mehrere kleinere auf.",
    file_archive: |file| format!("„{file}“ ist ein Archiv."),
    file_archive_hint: "Bitte entpacken Sie es und senden Sie die Dateien selbst.",
    file_document: |file| format!("„{file}“ ist ein Dokument in einem Format, das hier nicht angenommen wird."),
    file_image: |file| format!("„{file}“ ist ein Bild in einem Format, das hier nicht angenommen wird."),
    file_media: |file| format!("„{file}“ ist ein Video oder eine Tonaufnahme."),
    file_media_hint: "Bitte senden Sie stattdessen einen Link.",
    file_html: |file| format!("„{file}“ ist eine Webseite."),
    file_svg: |file| format!("„{file}“ ist eine SVG-Zeichnung, die Programme enthalten kann."),
    file_script: |file| format!("„{file}“ ist ein Skript; Programme werden nicht angenommen."),
    file_program: |file| format!("„{file}“ ist ein Programm; Programme werden nicht angenommen."),
    either: |first, second| format!("{first} oder {second}"),
    file_too_large: |file, max| format!("„{file}“ ist zu groß: höchstens {max}."),
    file_too_large_hint: "Bitte wählen Sie eine kleinere Datei oder senden Sie einen Link darauf.",
    files_too_many: |label, max| format!("Zu viele Dateien bei „{label}“: Bitte wählen Sie höchstens {}.", files(max)),
    files_total: |max| {
        format!("Ihre Dateien sind zusammen zu groß: höchstens {max} insgesamt. Bitte wählen Sie weniger aus.")
    },
    unnamed_file: "Datei ohne Namen",
    confirmation_subject: "Wir haben Ihre Nachricht erhalten",
    confirmation_reason: "Diese E-Mail wurde automatisch gesendet, weil Ihre Adresse in einem Formular auf unserer Website angegeben wurde.\n\
                          Wenn Sie das nicht waren, brauchen Sie nichts zu tun.",

    invalid: Notice {
        title: "Bitte prüfen Sie Ihre Angaben",
        detail: "Etwas fehlt oder stimmt noch nicht ganz. Bitte berichtigen Sie die markierten Felder und senden Sie noch einmal.",
    },
    files_too_large: Notice {
        title: "Eine Datei ist zu groß",
        detail: "Bitte wählen Sie eine kleinere Datei und senden Sie noch einmal.",
    },
    form_closed: Notice {
        title: "Dieses Formular ist geschlossen",
        detail: "Zurzeit nimmt es keine Nachrichten an; Ihre wurde nicht gespeichert. Bitte versuchen Sie es später oder melden Sie sich auf anderem Weg.",
    },
    origin_refused: Notice {
        title: "Von dieser Seite geht es nicht",
        detail: "Das Formular nimmt von dieser Website keine Nachrichten an. Bitte verwenden Sie es auf seiner eigenen Seite.",
    },
    signature: Notice {
        title: "Dieses Formular nimmt nur signierte Nachrichten an",
        detail: "Die Nachricht trägt keine gültige Signatur und wurde nicht gespeichert. Bitte sagen Sie dem Betreiber der Website Bescheid.",
    },
    not_found: Notice {
        title: "Hier ist nichts",
        detail: "Unter dieser Adresse gibt es kein Formular. Bitte prüfen Sie die Adresse oder gehen Sie zurück zur Seite, von der Sie kamen.",
    },
    method_not_allowed: Notice {
        title: "Das Formular wurde falsch gesendet",
        detail: "Ein Formular wird mit POST gesendet: Das form-Element der Seite braucht method=\"post\". Bitte sagen Sie dem Betreiber der Website Bescheid.",
    },
    malformed: Notice {
        title: "Die Nachricht war nicht lesbar",
        detail: "Sie kam unvollständig oder beschädigt an. Bitte gehen Sie zurück und senden Sie sie noch einmal.",
    },
    bad_request: Notice {
        title: "Die Anfrage war nicht lesbar",
        detail: "Ihr Browser oder ein Programm unterwegs hat etwas Ungültiges gesendet. Bitte versuchen Sie es noch einmal.",
    },
    bad_key: Notice {
        title: "Die Nachricht war nicht zuzuordnen",
        detail: "Ihr Sendeschlüssel ist ungültig. Bitte laden Sie die Seite neu und senden Sie noch einmal.",
    },
    key_conflict: Notice {
        title: "Das scheint eine andere Nachricht zu sein",
        detail: "Von dieser Seite ist schon eine Nachricht mit anderem Inhalt angekommen. Wenn diese neu ist, senden Sie sie bitte als neue Nachricht.",
    },
    too_large: Notice {
        title: "Die Nachricht ist zu groß",
        detail: "Sie ist größer, als dieses Formular annimmt. Bitte wählen Sie kleinere oder weniger Dateien und senden Sie noch einmal.",
    },
    too_much: Notice {
        title: "Die Nachricht ist zu lang",
        detail: "Sie hat mehr Felder oder längere Texte, als dieses Formular annimmt. Bitte kürzen Sie sie und senden Sie noch einmal.",
    },
    unsupported_type: Notice {
        title: "Diese Art von Nachricht wird nicht angenommen",
        detail: "Bitte senden Sie multipart/form-data, application/x-www-form-urlencoded oder application/json.",
    },
    rate_limited: Notice {
        title: "Zu viele Nachrichten",
        detail: "Von Ihrem Anschluss kamen in kurzer Zeit viele Nachrichten. Bitte warten Sie ein wenig und senden Sie noch einmal.",
    },
    too_slow: Notice {
        title: "Die Verbindung ist zu langsam",
        detail: "Die Nachricht kam nicht rechtzeitig an. Bitte versuchen Sie es noch einmal, vielleicht über eine andere Verbindung.",
    },
    unavailable: Notice {
        title: "Einen Moment bitte",
        detail: "Ihre Nachricht konnte gerade nicht gespeichert werden. Bitte senden Sie sie in einer Minute noch einmal: Sie kommt nicht doppelt an.",
    },
    server_error: Notice {
        title: "Bei uns ist etwas schiefgegangen",
        detail: "Bitte senden Sie Ihre Nachricht in einer Minute noch einmal: Sie kommt nicht doppelt an.",
    },
    header_too_large: Notice {
        title: "Die Anfrage ist zu groß",
        detail: "Ihr Kopf ist größer als erlaubt, oft wegen vieler Cookies. Bitte versuchen Sie es in einem privaten Fenster.",
    },
};

/// `1 Datei`, `2 Dateien`.
fn files(count: u64) -> String {
    super::counted(count, "Datei", "Dateien")
}
