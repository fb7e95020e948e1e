//! Spanish.

use super::Notice;
use super::catalog::BuiltIn;

/// The texts.
pub(super) const TEXTS: BuiltIn = BuiltIn {
    thanks_title: "¡Gracias!",
    thanks_message: "Su mensaje ha llegado bien.",
    receipt_line: |receipt| format!("Su número de referencia: {receipt}"),
    back: "Volver a la página",

    form_title: "Formulario de contacto",
    label_name: "Nombre",
    label_email: "Correo electrónico",
    label_message: "Mensaje",
    label_file: "Archivo",
    send: "Enviar",
    required_note: "Los campos con * son obligatorios.",
    choose: "Elija una opción",
    max_size: |size| format!("Como máximo {size}."),
    max_files: |count, size| format!("Como máximo {}, de {size} cada uno.", files(count)),
    file_kinds: |kinds| format!("Se aceptan {kinds}."),
    choose_again: "Elija de nuevo sus archivos: el navegador no los guarda.",
    faults_label: "Revise estos campos",
    fault_prefix: "Fallo:",
    send_as_new: "Enviar como mensaje nuevo",
    go_back: "Vuelva atrás en el navegador: su texto sigue en el formulario.",
    again_in_seconds: |count| format!("Puede volver a intentarlo en {count} s."),
    again_in_minutes: |count| format!("Puede volver a intentarlo en {count} min."),
    error_number: |number| format!("Número del error: {number}"),
    size: |bytes| super::size(bytes, ["bytes", "KB", "MB"], ','),

    required: |label| format!("Rellene «{label}», por favor."),
    required_tick: |label| format!("Marque la casilla «{label}», por favor."),
    required_choice: |label| format!("Elija una opción en «{label}», por favor."),
    required_file: |label| format!("Elija un archivo en «{label}», por favor."),
    too_short: |label, min| format!("«{label}» es demasiado corto: escriba al menos {}.", characters(min)),
    too_long: |label, max| format!("«{label}» es demasiado largo: redúzcalo a {}.", characters(max)),
    pattern: |label| format!("«{label}» no tiene la forma esperada: revíselo, por favor."),
    email: |label| format!("«{label}» no es una dirección de correo: revísela, por favor."),
    email_hint: "Por ejemplo: name@example.com",
    url: |label| format!("«{label}» no es una dirección web: escríbala completa."),
    url_hint: "Por ejemplo: https://example.com",
    number: |label| format!("«{label}» debe ser un número: escríbalo con cifras."),
    number_hint: "Por ejemplo: 12.5",
    number_min: |label, min| format!("«{label}» es demasiado pequeño: escriba {min} o más."),
    number_max: |label, max| format!("«{label}» es demasiado grande: escriba {max} o menos."),
    date: |label| format!("«{label}» no es una fecha: indique año, mes y día."),
    date_hint: "Por ejemplo: 2026-11-30",
    date_min: |label, min| format!("«{label}» es demasiado pronto: elija {min} o una fecha posterior."),
    date_max: |label, max| format!("«{label}» es demasiado tarde: elija {max} o una fecha anterior."),
    option: |label| format!("Esa opción no existe en «{label}»: elija una de la lista."),
    repeated: |label| format!("«{label}» llegó más de una vez: rellénelo una sola vez."),
    line_break: |label| format!("«{label}» debe ocupar una sola línea: quite los saltos de línea."),
    control_character: |label| format!("«{label}» contiene caracteres de control invisibles: quítelos, por favor."),
    control_character_hint: "Suelen venir de un texto copiado: escríbalo de nuevo.",
    not_text: |label| format!("«{label}» no se pudo leer como texto: escríbalo de nuevo."),
    nested: |label| format!("«{label}» debe ser un texto simple, no una lista ni un objeto."),
    unknown_field: |label| {
        format!("Este formulario no tiene el campo «{label}»: recargue la página e inténtelo de nuevo.")
    },
    unknown_file: |label| format!("Este formulario no acepta archivos en «{label}»: envíelo sin el archivo."),
    file_expected: |label| format!("«{label}» necesita un archivo: elija uno, por favor."),
    text_expected: |label| format!("«{label}» necesita un texto, no un archivo: escríbalo, por favor."),
    file_empty: |file| format!("«{file}» está vacío: elija otro archivo."),
    file_type: |file| format!("Aquí no se aceptan archivos como «{file}»: elija otro."),
    file_type_hint: |kinds| format!("Se aceptan {kinds}."),
    file_contradicts: |file, extension| format!("«{file}» no es lo que dice su extensión «.{extension}»."),
    file_contradicts_hint: "Ábralo, guárdelo de nuevo en el formato correcto y elíjalo otra vez.",
    file_damaged: |file| format!("«{file}» está dañado o incompleto: guárdelo de nuevo y elíjalo otra vez."),
    file_heic: |file| format!("«{file}» es una foto HEIC, que muchos programas no pueden abrir."),
    file_heic_hint: |kinds| {
        format!("Envíela como {kinds}. En el iPhone: Ajustes, Cámara, Formatos, «El más compatible».")
    },
    file_old_office: |file| format!("«{file}» está en un formato de oficina antiguo."),
    file_save_as_hint: |kinds| format!("Ábralo, guárdelo como {kinds} y elija el archivo nuevo."),
    file_encrypted: |file| format!("«{file}» está protegido con una contraseña."),
    file_encrypted_hint: "Guárdelo sin contraseña y elíjalo de nuevo.",
    file_macros: |file| format!("«{file}» contiene macros."),
    file_macros_hint: |kinds| format!("Guárdelo sin macros, como {kinds}, y elija el archivo nuevo."),
    file_template: |file| format!("«{file}» es una plantilla o una presentación automática, no un documento."),
    file_overpacked: |file| format!("«{file}» está demasiado comprimido para poder revisarlo."),
    file_overpacked_hint: "Guárdelo de nuevo o divídalo en varios archivos más pequeños.",
    file_archive: |file| format!("«{file}» es un archivo comprimido."),
    file_archive_hint: "Descomprímalo y envíe los archivos sueltos.",
    file_document: |file| format!("«{file}» es un documento en un formato que aquí no se acepta."),
    file_image: |file| format!("«{file}» es una imagen en un formato que aquí no se acepta."),
    file_media: |file| format!("«{file}» es un vídeo o una grabación de sonido."),
    file_media_hint: "Envíe un enlace en su lugar.",
    file_html: |file| format!("«{file}» es una página web."),
    file_svg: |file| format!("«{file}» es un dibujo SVG, que puede llevar programas."),
    file_script: |file| format!("«{file}» es un script; no se aceptan programas."),
    file_program: |file| format!("«{file}» es un programa; no se aceptan programas."),
    either: |first, second| format!("{first} o {second}"),
    file_too_large: |file, max| format!("«{file}» es demasiado grande: como máximo {max}."),
    file_too_large_hint: "Elija un archivo más pequeño o envíe un enlace.",
    files_too_many: |label, max| format!("Demasiados archivos en «{label}»: elija como máximo {max}."),
    files_total: |max| {
        format!("Sus archivos son demasiado grandes en conjunto: como máximo {max} en total. Elija menos.")
    },
    unnamed_file: "archivo sin nombre",
    confirmation_subject: "Hemos recibido su mensaje",
    confirmation_reason: "Este correo se ha enviado automáticamente porque su dirección se indicó en un formulario de nuestro sitio web.\n\
                          Si no ha sido usted, no tiene que hacer nada.",

    invalid: Notice {
        title: "Revise sus datos, por favor",
        detail: "Falta algo o algo no está bien del todo. Corrija los campos marcados y envíe de nuevo.",
    },
    files_too_large: Notice {
        title: "Un archivo es demasiado grande",
        detail: "Elija un archivo más pequeño y envíe de nuevo.",
    },
    form_closed: Notice {
        title: "Este formulario está cerrado",
        detail: "Por ahora no acepta mensajes; el suyo no se ha guardado. Inténtelo más tarde o escríbanos por otro medio.",
    },
    origin_refused: Notice {
        title: "Desde esta página no se puede enviar",
        detail: "El formulario no acepta mensajes de este sitio web. Úselo en su propia página, por favor.",
    },
    signature: Notice {
        title: "Este formulario solo acepta mensajes firmados",
        detail: "El mensaje no lleva una firma válida y no se ha guardado. Avise al responsable del sitio, por favor.",
    },
    not_found: Notice {
        title: "Aquí no hay nada",
        detail: "No hay ningún formulario en esta dirección. Revise la dirección o vuelva a la página de la que viene.",
    },
    method_not_allowed: Notice {
        title: "El formulario se envió mal",
        detail: "Un formulario se envía con POST: el elemento form de la página necesita method=\"post\". Avise al responsable del sitio, por favor.",
    },
    malformed: Notice {
        title: "No se pudo leer el mensaje",
        detail: "Llegó incompleto o dañado. Vuelva atrás y envíelo de nuevo.",
    },
    bad_request: Notice {
        title: "No se pudo leer la petición",
        detail: "Su navegador o un programa intermedio envió algo que no es válido. Inténtelo de nuevo.",
    },
    bad_key: Notice {
        title: "No se pudo reconocer el mensaje",
        detail: "Su clave de envío no es válida. Recargue la página y envíe de nuevo.",
    },
    key_conflict: Notice {
        title: "Parece otro mensaje",
        detail: "Ya llegó un mensaje de esta página, con otro contenido. Si este es nuevo, envíelo como mensaje nuevo.",
    },
    too_large: Notice {
        title: "El mensaje es demasiado grande",
        detail: "Supera lo que acepta este formulario. Elija archivos más pequeños o menos archivos y envíe de nuevo.",
    },
    too_much: Notice {
        title: "El mensaje es demasiado largo",
        detail: "Tiene más campos o textos más largos de lo que acepta este formulario. Acórtelo y envíe de nuevo.",
    },
    unsupported_type: Notice {
        title: "Este tipo de mensaje no se acepta",
        detail: "Envíe multipart/form-data, application/x-www-form-urlencoded o application/json.",
    },
    rate_limited: Notice {
        title: "Demasiados mensajes",
        detail: "Desde su conexión llegaron muchos mensajes en poco tiempo. Espere un poco y envíe de nuevo.",
    },
    too_slow: Notice {
        title: "La conexión es demasiado lenta",
        detail: "El mensaje no llegó a tiempo. Inténtelo de nuevo, quizá con otra conexión.",
    },
    unavailable: Notice {
        title: "Un momento",
        detail: "Ahora mismo no se pudo guardar su mensaje. Envíelo de nuevo en un minuto: no llegará por duplicado.",
    },
    server_error: Notice {
        title: "Algo ha fallado por nuestra parte",
        detail: "Envíe su mensaje de nuevo en un minuto: no llegará por duplicado.",
    },
    header_too_large: Notice {
        title: "La petición es demasiado grande",
        detail: "Su cabecera es mayor de lo aceptado, a menudo por muchas cookies. Inténtelo en una ventana privada.",
    },
};

/// `1 archivo`, `2 archivos`.
fn files(count: u64) -> String {
    super::counted(count, "archivo", "archivos")
}

/// `1 carácter`, `2 caracteres`.
fn characters(count: u64) -> String {
    super::counted(count, "carácter", "caracteres")
}
