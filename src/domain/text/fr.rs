//! French. A no-break space stands within quotes and before the two-part signs.

use super::Notice;
use super::catalog::BuiltIn;

/// The texts.
pub(super) const TEXTS: BuiltIn = BuiltIn {
    thanks_title: "Merci\u{a0}!",
    thanks_message: "Votre message est bien arrivé.",
    receipt_line: |receipt| format!("Votre numéro de suivi\u{a0}: {receipt}"),
    back: "Retour à la page",

    form_title: "Formulaire de contact",
    label_name: "Nom",
    label_email: "Adresse e-mail",
    label_message: "Votre message",
    label_file: "Fichier",
    send: "Envoyer",
    required_note: "Les champs marqués d’un * sont obligatoires.",
    choose: "Choisissez",
    max_size: |size| format!("{size} au plus."),
    max_files: |count, size| format!("{} au plus, {size} chacun.", files(count)),
    file_kinds: |kinds| format!("Formats acceptés\u{a0}: {kinds}."),
    choose_again: "Choisissez vos fichiers à nouveau\u{a0}: le navigateur ne les garde pas.",
    faults_label: "Vérifiez ces champs",
    fault_prefix: "Erreur\u{a0}:",
    send_as_new: "Envoyer comme nouveau message",
    go_back: "Revenez en arrière dans votre navigateur\u{a0}: votre texte est toujours dans le formulaire.",
    again_in_seconds: |count| format!("Vous pourrez réessayer dans {count}\u{a0}s."),
    again_in_minutes: |count| format!("Vous pourrez réessayer dans {count}\u{a0}min."),
    error_number: |number| format!("Numéro de l’erreur\u{a0}: {number}"),
    size: |bytes| super::size(bytes, ["octets", "Ko", "Mo"], ','),

    required: |label| format!("Remplissez le champ {}.", quoted(label)),
    required_tick: |label| format!("Cochez la case {}.", quoted(label)),
    required_choice: |label| format!("Choisissez une réponse pour {}.", quoted(label)),
    required_file: |label| format!("Choisissez un fichier pour {}.", quoted(label)),
    too_short: |label, min| format!("{} est trop court\u{a0}: écrivez au moins {}.", quoted(label), characters(min)),
    too_long: |label, max| format!("{} est trop long\u{a0}: limitez-vous à {}.", quoted(label), characters(max)),
    pattern: |label| format!("{} n’a pas la forme attendue\u{a0}: vérifiez votre réponse.", quoted(label)),
    email: |label| format!("{} n’est pas une adresse e-mail\u{a0}: vérifiez-la.", quoted(label)),
    email_hint: "Par exemple\u{a0}: name@example.com",
    url: |label| format!("{} n’est pas une adresse web\u{a0}: écrivez-la en entier.", quoted(label)),
    url_hint: "Par exemple\u{a0}: https://example.com",
    number: |label| format!("{} doit être un nombre\u{a0}: écrivez-le en chiffres.", quoted(label)),
    number_hint: "Par exemple\u{a0}: 12.5",
    number_min: |label, min| format!("{} est trop petit\u{a0}: indiquez {min} ou plus.", quoted(label)),
    number_max: |label, max| format!("{} est trop grand\u{a0}: indiquez {max} ou moins.", quoted(label)),
    date: |label| format!("{} n’est pas une date\u{a0}: indiquez l’année, le mois et le jour.", quoted(label)),
    date_hint: "Par exemple\u{a0}: 2026-11-30",
    date_min: |label, min| format!("{} est trop tôt\u{a0}: choisissez le {min} ou plus tard.", quoted(label)),
    date_max: |label, max| format!("{} est trop tard\u{a0}: choisissez le {max} ou plus tôt.", quoted(label)),
    option: |label| format!("Ce choix n’existe pas pour {}\u{a0}: choisissez dans la liste.", quoted(label)),
    repeated: |label| format!("{} a été envoyé plusieurs fois\u{a0}: remplissez-le une seule fois.", quoted(label)),
    line_break: |label| format!("{} doit tenir sur une ligne\u{a0}: enlevez les retours à la ligne.", quoted(label)),
    control_character: |label| {
        format!("{} contient des caractères de commande invisibles\u{a0}: enlevez-les.", quoted(label))
    },
    control_character_hint: "Ils viennent souvent d’un copier-coller\u{a0}: tapez le texte à nouveau.",
    not_text: |label| format!("{} n’a pas pu être lu comme du texte\u{a0}: tapez-le à nouveau.", quoted(label)),
    nested: |label| format!("{} doit être un simple texte, ni liste ni objet.", quoted(label)),
    unknown_field: |label| {
        format!("Ce formulaire n’a pas de champ {}\u{a0}: rechargez la page et réessayez.", quoted(label))
    },
    unknown_file: |label| {
        format!("Ce formulaire ne prend pas de fichier pour {}\u{a0}: envoyez-le sans fichier.", quoted(label))
    },
    file_expected: |label| format!("{} attend un fichier\u{a0}: choisissez-en un.", quoted(label)),
    text_expected: |label| format!("{} attend un texte, pas un fichier\u{a0}: écrivez-le.", quoted(label)),
    file_empty: |file| format!("{} est vide\u{a0}: choisissez un autre fichier.", quoted(file)),
    file_type: |file| {
        format!("Les fichiers comme {} ne sont pas acceptés ici\u{a0}: choisissez-en un autre.", quoted(file))
    },
    file_type_hint: |kinds| format!("Formats acceptés\u{a0}: {kinds}."),
    file_contradicts: |file, extension| {
        format!("{} n’est pas ce que dit son extension {}.", quoted(file), quoted(&format!(".{extension}")))
    },
    file_contradicts_hint: "Ouvrez-le, enregistrez-le à nouveau dans le bon format et choisissez-le encore une fois.",
    file_damaged: |file| {
        format!(
            "{} est abîmé ou incomplet\u{a0}: enregistrez-le à nouveau et choisissez-le encore une fois.",
            quoted(file)
        )
    },
    file_heic: |file| format!("{} est une photo HEIC, que beaucoup de programmes n’ouvrent pas.", quoted(file)),
    file_heic_hint: |kinds| {
        format!(
            "Envoyez-la en {kinds}. Sur iPhone\u{a0}: Réglages, Appareil photo, Formats, {}.",
            quoted("Le plus compatible")
        )
    },
    file_old_office: |file| format!("{} est dans un ancien format bureautique.", quoted(file)),
    file_save_as_hint: |kinds| format!("Ouvrez-le, enregistrez-le en {kinds} et choisissez ce nouveau fichier."),
    file_encrypted: |file| format!("{} est protégé par un mot de passe.", quoted(file)),
    file_encrypted_hint: "Enregistrez-le sans mot de passe et choisissez-le à nouveau.",
    file_macros: |file| format!("{} contient des macros.", quoted(file)),
    file_macros_hint: |kinds| format!("Enregistrez-le sans macros, en {kinds}, et choisissez ce nouveau fichier."),
    file_template: |file| format!("{} est un modèle ou un diaporama automatique, pas un document.", quoted(file)),
    file_overpacked: |file| format!("{} est trop compressé pour être vérifié.", quoted(file)),
    file_overpacked_hint: "Enregistrez-le à nouveau ou partagez-le en plusieurs fichiers plus petits.",
    file_archive: |file| format!("{} est une archive.", quoted(file)),
    file_archive_hint: "Décompressez-la et envoyez les fichiers eux-mêmes.",
    file_document: |file| format!("{} est un document dans un format qui n’est pas accepté ici.", quoted(file)),
    file_image: |file| format!("{} est une image dans un format qui n’est pas accepté ici.", quoted(file)),
    file_media: |file| format!("{} est une vidéo ou un enregistrement sonore.", quoted(file)),
    file_media_hint: "Envoyez plutôt un lien.",
    file_html: |file| format!("{} est une page web.", quoted(file)),
    file_svg: |file| format!("{} est un dessin SVG, qui peut contenir des programmes.", quoted(file)),
    file_script: |file| format!("{} est un script\u{a0}; les programmes ne sont pas acceptés.", quoted(file)),
    file_program: |file| format!("{} est un programme\u{a0}; les programmes ne sont pas acceptés.", quoted(file)),
    either: |first, second| format!("{first} ou {second}"),
    file_too_large: |file, max| format!("{} est trop gros\u{a0}: {max} au plus.", quoted(file)),
    file_too_large_hint: "Choisissez un fichier plus petit ou envoyez un lien.",
    files_too_many: |label, max| format!("Trop de fichiers pour {}\u{a0}: choisissez-en {max} au plus.", quoted(label)),
    files_total: |max| {
        format!("Vos fichiers sont trop gros ensemble\u{a0}: {max} au plus en tout. Choisissez-en moins.")
    },
    unnamed_file: "fichier sans nom",
    confirmation_subject: "Nous avons bien reçu votre message",
    confirmation_reason: "Cet e-mail a été envoyé automatiquement, car votre adresse a été saisie dans un formulaire de notre site.\n\
                          Si ce n’était pas vous, vous n’avez rien à faire.",

    invalid: Notice {
        title: "Vérifiez vos réponses",
        detail: "Il manque quelque chose ou une réponse n’est pas tout à fait juste. Corrigez les champs marqués et renvoyez.",
    },
    files_too_large: Notice {
        title: "Un fichier est trop gros",
        detail: "Choisissez un fichier plus petit et renvoyez.",
    },
    form_closed: Notice {
        title: "Ce formulaire est fermé",
        detail: "Il ne prend pas de messages pour le moment\u{a0}; le vôtre n’a pas été gardé. Réessayez plus tard ou contactez-nous autrement.",
    },
    origin_refused: Notice {
        title: "Cette page ne peut pas envoyer ici",
        detail: "Le formulaire n’accepte pas de messages de ce site. Utilisez-le sur sa propre page.",
    },
    signature: Notice {
        title: "Ce formulaire ne prend que des messages signés",
        detail: "Le message ne porte pas de signature valable et n’a pas été gardé. Prévenez s’il vous plaît le responsable du site.",
    },
    not_found: Notice {
        title: "Il n’y a rien ici",
        detail: "Il n’y a pas de formulaire à cette adresse. Vérifiez l’adresse ou revenez à la page d’où vous venez.",
    },
    method_not_allowed: Notice {
        title: "Le formulaire a été mal envoyé",
        detail: "Un formulaire s’envoie avec POST\u{a0}: l’élément form de la page a besoin de method=\"post\". Prévenez s’il vous plaît le responsable du site.",
    },
    malformed: Notice {
        title: "Le message n’a pas pu être lu",
        detail: "Il est arrivé incomplet ou abîmé. Revenez en arrière et renvoyez-le.",
    },
    bad_request: Notice {
        title: "La demande n’a pas pu être lue",
        detail: "Votre navigateur ou un programme intermédiaire a envoyé quelque chose de non valable. Réessayez.",
    },
    bad_key: Notice {
        title: "Le message n’a pas pu être reconnu",
        detail: "Sa clé d’envoi n’est pas valable. Rechargez la page et renvoyez.",
    },
    key_conflict: Notice {
        title: "On dirait un autre message",
        detail: "Un message de cette page est déjà arrivé, avec un autre contenu. Si celui-ci est nouveau, envoyez-le comme nouveau message.",
    },
    too_large: Notice {
        title: "Le message est trop gros",
        detail: "Il dépasse ce que prend ce formulaire. Choisissez des fichiers plus petits ou moins nombreux et renvoyez.",
    },
    too_much: Notice {
        title: "Le message est trop long",
        detail: "Il a plus de champs ou des textes plus longs que ce formulaire n’en prend. Raccourcissez-le et renvoyez.",
    },
    unsupported_type: Notice {
        title: "Ce type de message n’est pas accepté",
        detail: "Envoyez multipart/form-data, application/x-www-form-urlencoded ou application/json.",
    },
    rate_limited: Notice {
        title: "Trop de messages",
        detail: "Beaucoup de messages sont venus de votre connexion en peu de temps. Attendez un peu et renvoyez.",
    },
    too_slow: Notice {
        title: "La connexion est trop lente",
        detail: "Le message n’est pas arrivé à temps. Réessayez, peut-être par une autre connexion.",
    },
    unavailable: Notice {
        title: "Un instant",
        detail: "Votre message n’a pas pu être enregistré à l’instant. Renvoyez-le dans une minute\u{a0}: il n’arrivera pas en double.",
    },
    server_error: Notice {
        title: "Quelque chose s’est mal passé chez nous",
        detail: "Renvoyez votre message dans une minute\u{a0}: il n’arrivera pas en double.",
    },
    header_too_large: Notice {
        title: "La demande est trop grosse",
        detail: "Son en-tête dépasse ce qui est accepté, souvent à cause de nombreux cookies. Réessayez dans une fenêtre privée.",
    },
};

/// `« texte »`.
fn quoted(text: &str) -> String {
    format!("«\u{a0}{text}\u{a0}»")
}

/// `1 fichier`, `2 fichiers`.
fn files(count: u64) -> String {
    super::counted(count, "fichier", "fichiers")
}

/// `1 caractère`, `2 caractères`.
fn characters(count: u64) -> String {
    super::counted(count, "caractère", "caractères")
}
