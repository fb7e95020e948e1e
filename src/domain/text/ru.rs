//! Russian.

use super::Notice;
use super::catalog::BuiltIn;

/// The texts.
pub(super) const TEXTS: BuiltIn = BuiltIn {
    thanks_title: "Спасибо!",
    thanks_message: "Ваше сообщение получено.",
    receipt_line: |receipt| format!("Номер вашего обращения: {receipt}"),
    back: "Вернуться на страницу",

    form_title: "Форма обратной связи",
    send: "Отправить",
    required_note: "Поля со звёздочкой * обязательны.",
    choose: "Выберите",
    max_size: |size| format!("Не больше {size}."),
    max_files: |count, size| format!("Не больше {}, каждый до {size}.", files_genitive(count)),
    file_kinds: |kinds| format!("Подходят: {kinds}."),
    choose_again: "Выберите файлы заново: браузер их не сохраняет.",
    faults_label: "Проверьте эти поля",
    fault_prefix: "Ошибка:",
    send_as_new: "Отправить как новое сообщение",
    size: |bytes| super::size(bytes, ["Б", "КБ", "МБ"], ','),

    required: |label| format!("Заполните поле «{label}»."),
    required_tick: |label| format!("Отметьте «{label}»."),
    required_choice: |label| format!("Выберите вариант в поле «{label}»."),
    required_file: |label| format!("Выберите файл в поле «{label}»."),
    too_short: |label, min| format!("Слишком короткое значение в поле «{label}»: нужно не меньше {}.", characters(min)),
    too_long: |label, max| format!("Слишком длинное значение в поле «{label}»: сократите до {}.", characters(max)),
    pattern: |label| format!("Значение поля «{label}» записано не так, как ожидается: проверьте его."),
    email: |label| format!("В поле «{label}» не адрес электронной почты: проверьте его."),
    email_hint: "Например: name@example.com",
    url: |label| format!("В поле «{label}» не адрес сайта: укажите его полностью."),
    url_hint: "Например: https://example.com",
    number: |label| format!("В поле «{label}» нужно число: введите его цифрами."),
    number_hint: "Например: 12.5",
    number_min: |label, min| format!("Слишком маленькое число в поле «{label}»: введите {min} или больше."),
    number_max: |label, max| format!("Слишком большое число в поле «{label}»: введите {max} или меньше."),
    date: |label| format!("В поле «{label}» не дата: укажите год, месяц и день."),
    date_hint: "Например: 2026-11-30",
    date_min: |label, min| format!("Слишком ранняя дата в поле «{label}»: выберите {min} или позже."),
    date_max: |label, max| format!("Слишком поздняя дата в поле «{label}»: выберите {max} или раньше."),
    option: |label| format!("Такого варианта в поле «{label}» нет: выберите один из списка."),
    repeated: |label| format!("Поле «{label}» пришло несколько раз: заполните его один раз."),
    line_break: |label| format!("В поле «{label}» нужна одна строка: уберите переносы."),
    control_character: |label| format!("В поле «{label}» есть невидимые управляющие символы: уберите их."),
    control_character_hint: "Они могли попасть в текст при копировании: наберите его заново.",
    not_text: |label| format!("Значение поля «{label}» не удалось прочитать как текст: наберите его заново."),
    nested: |label| format!("В поле «{label}» нужен простой текст, а не список или объект."),
    unknown_field: |label| format!("В этой форме нет поля «{label}»: обновите страницу и попробуйте ещё раз."),
    unknown_file: |label| format!("Форма не принимает файл в поле «{label}»: отправьте без него."),
    file_expected: |label| format!("В поле «{label}» нужен файл: выберите его."),
    text_expected: |label| format!("В поле «{label}» нужен текст, а не файл: наберите его."),
    file_empty: |file| format!("Файл «{file}» пуст: выберите другой."),
    file_type: |file| format!("Файлы такого вида, как «{file}», здесь не принимаются: выберите другой."),
    file_type_hint: |kinds| format!("Подходят: {kinds}."),
    file_contradicts: |file, extension| {
        format!("Содержимое файла «{file}» не соответствует расширению «.{extension}».")
    },
    file_contradicts_hint: "Откройте его, сохраните заново в нужном формате и выберите ещё раз.",
    file_damaged: |file| format!("Файл «{file}» повреждён или неполон: сохраните его заново и выберите ещё раз."),
    file_too_large: |file, max| format!("Файл «{file}» слишком большой: можно не больше {max}."),
    file_too_large_hint: "Выберите файл поменьше или пришлите ссылку на него.",
    files_too_many: |label, max| format!("Слишком много файлов в поле «{label}»: можно выбрать {}.", files(max)),
    files_total: |max| format!("Файлы вместе слишком большие: можно не больше {max}. Выберите меньше файлов."),
    unnamed_file: "без имени",
    confirmation_subject: "Мы получили ваше сообщение",
    confirmation_reason: "Это письмо отправлено автоматически: ваш адрес указали в форме на нашем сайте.\n\
                          Если это были не вы, ничего делать не нужно.",

    label_name: "Имя",
    label_email: "Эл. почта",
    label_message: "Сообщение",
    label_file: "Файл",
    go_back: "Вернитесь назад в браузере: ваш текст остался в форме.",
    file_encrypted_hint: "Сохраните его без пароля и выберите ещё раз.",
    file_overpacked_hint: "Сохраните его заново или разделите на несколько файлов поменьше.",
    file_archive_hint: "Распакуйте его и отправьте сами файлы.",
    file_media_hint: "Пришлите вместо него ссылку.",

    again_in_seconds: |count| format!("Повторить можно через {count} с."),
    again_in_minutes: |count| format!("Повторить можно через {count} мин."),
    error_number: |number| format!("Номер ошибки: {number}"),
    file_heic: |file| format!("«{file}» — фото в формате HEIC, многие программы его не открывают."),
    file_heic_hint: |kinds| {
        format!("Отправьте его как {kinds}. На iPhone: Настройки, Камера, Форматы, «Наиболее совместимый».")
    },
    file_old_office: |file| format!("«{file}» — документ в старом формате."),
    file_save_as_hint: |kinds| format!("Откройте его, сохраните как {kinds} и выберите новый файл."),
    file_encrypted: |file| format!("Файл «{file}» защищён паролем."),
    file_macros: |file| format!("В файле «{file}» есть макросы."),
    file_macros_hint: |kinds| format!("Сохраните его без макросов, как {kinds}, и выберите новый файл."),
    file_template: |file| format!("«{file}» — шаблон или самозапускающаяся презентация, а не документ."),
    file_overpacked: |file| format!("Файл «{file}» сжат так сильно, что его нельзя проверить."),
    file_archive: |file| format!("«{file}» — архив."),
    file_document: |file| format!("«{file}» — документ в формате, который здесь не принимается."),
    file_image: |file| format!("«{file}» — изображение в формате, который здесь не принимается."),
    file_media: |file| format!("«{file}» — видео или звукозапись."),
    file_html: |file| format!("«{file}» — веб-страница."),
    file_svg: |file| format!("«{file}» — рисунок SVG, в нём может быть программа."),
    file_script: |file| format!("«{file}» — скрипт, программы здесь не принимаются."),
    file_program: |file| format!("«{file}» — программа, программы здесь не принимаются."),
    either: |first, second| format!("{first} или {second}"),

    invalid: Notice {
        title: "Проверьте, пожалуйста, поля",
        detail: "Чего-то не хватает или что-то введено неверно. Исправьте отмеченные поля и отправьте ещё раз.",
    },
    files_too_large: Notice {
        title: "Файл слишком большой", detail: "Выберите файл поменьше и отправьте ещё раз."
    },
    form_closed: Notice {
        title: "Форма закрыта",
        detail: "Сейчас она не принимает сообщений, ваше не сохранено. Попробуйте позже или свяжитесь с нами иначе.",
    },
    signature: Notice {
        title: "Эта форма принимает только подписанные сообщения",
        detail: "У сообщения нет действительной подписи, и оно не сохранено. Пожалуйста, сообщите владельцу сайта.",
    },
    origin_refused: Notice {
        title: "С этой страницы отправить нельзя",
        detail: "Форма не принимает сообщений с этого сайта. Откройте её на её собственной странице.",
    },
    not_found: Notice {
        title: "Здесь ничего нет",
        detail: "По этому адресу нет формы. Проверьте адрес или вернитесь на страницу, с которой пришли.",
    },
    method_not_allowed: Notice {
        title: "Форма отправлена не тем способом",
        detail: "Форма отправляется методом POST: элементу form на странице нужен method=\"post\". Сообщите, пожалуйста, владельцу сайта.",
    },
    malformed: Notice {
        title: "Сообщение не удалось прочитать",
        detail: "Оно пришло неполным или повреждённым. Вернитесь назад и отправьте его ещё раз.",
    },
    bad_request: Notice {
        title: "Запрос не удалось прочитать",
        detail: "Браузер или программа по пути прислали неверный запрос. Попробуйте ещё раз.",
    },
    bad_key: Notice {
        title: "Сообщение не удалось опознать",
        detail: "Ключ отправки неверен. Обновите страницу и отправьте ещё раз.",
    },
    key_conflict: Notice {
        title: "Похоже, это другое сообщение",
        detail: "С этой страницы уже получено сообщение с другим содержанием. Если это новое, отправьте его как новое сообщение.",
    },
    too_large: Notice {
        title: "Сообщение слишком большое",
        detail: "Оно больше, чем принимает форма. Выберите файлы поменьше или меньше файлов и отправьте ещё раз.",
    },
    too_much: Notice {
        title: "Сообщение слишком длинное",
        detail: "В нём больше полей или текста, чем принимает форма. Сократите его и отправьте ещё раз.",
    },
    unsupported_type: Notice {
        title: "Такой вид сообщения не принимается",
        detail: "Отправьте multipart/form-data, application/x-www-form-urlencoded или application/json.",
    },
    rate_limited: Notice {
        title: "Слишком много сообщений",
        detail: "С вашего подключения за короткое время пришло много сообщений. Подождите немного и отправьте ещё раз.",
    },
    too_slow: Notice {
        title: "Слишком медленное соединение",
        detail: "Сообщение не успело дойти. Попробуйте ещё раз, возможно, через другое подключение.",
    },
    unavailable: Notice {
        title: "Одну минуту",
        detail: "Сейчас не получилось сохранить сообщение. Отправьте его ещё раз через минуту: оно не удвоится.",
    },
    server_error: Notice {
        title: "У нас что-то сломалось",
        detail: "Отправьте сообщение ещё раз через минуту: оно не удвоится.",
    },
    header_too_large: Notice {
        title: "Запрос слишком большой",
        detail: "Его заголовки больше допустимого, часто из-за множества cookie. Попробуйте в приватном окне.",
    },
};

/// The form a Russian noun takes after a number: that of 1, of 2 to 4, or of 5 and more.
fn plural<'a>(count: u64, one: &'a str, few: &'a str, many: &'a str) -> &'a str {
    match (count % 10, count % 100) {
        (_, 11..=14) => many,
        (1, _) => one,
        (2..=4, _) => few,
        _ => many,
    }
}

/// `1 файл`, `2 файла`, `5 файлов`.
fn files(count: u64) -> String {
    format!("{count} {}", plural(count, "файл", "файла", "файлов"))
}

/// `1 файла`, `2 файлов`: after «не больше».
fn files_genitive(count: u64) -> String {
    format!("{count} {}", plural(count, "файла", "файлов", "файлов"))
}

/// `1 символа`, `2 символов`: after «до» and «не меньше».
fn characters(count: u64) -> String {
    format!("{count} {}", plural(count, "символа", "символов", "символов"))
}
