//! The few words of pages that no answer of another kind uses.

use crate::domain::text::Language;

/// Words of one language.
#[derive(Debug)]
pub struct Words {
    /// The label of `name` where a form declares nothing.
    pub name: &'static str,
    /// The label of `email` there.
    pub email: &'static str,
    /// The label of `message` there.
    pub message: &'static str,
    /// The label of `file` there.
    pub file: &'static str,
    /// When to come again, in seconds.
    pub again_in_seconds: fn(i64) -> String,
    /// When to come again, in minutes.
    pub again_in_minutes: fn(i64) -> String,
    /// The text could not be kept, but the browser has it.
    pub go_back: &'static str,
    /// The number of an error, as it stands in the log.
    pub error_number: fn(&str) -> String,
}

impl Words {
    /// The words of a language.
    pub fn of(language: Language) -> &'static Self {
        match language {
            Language::En => &EN,
            Language::Ru => &RU,
        }
    }

    /// When to come again, in the unit a person would use.
    pub fn again_in(&self, secs: i64) -> String {
        if secs <= 90 { (self.again_in_seconds)(secs) } else { (self.again_in_minutes)(secs.saturating_add(59) / 60) }
    }
}

/// English.
static EN: Words = Words {
    name: "Name",
    email: "E-mail",
    message: "Message",
    file: "File",
    again_in_seconds: |n| format!("You can try again in {n} s."),
    again_in_minutes: |n| format!("You can try again in {n} min."),
    go_back: "Go back in your browser: your text is still in the form.",
    error_number: |n| format!("Number of the error: {n}"),
};

/// Russian.
static RU: Words = Words {
    name: "Имя",
    email: "Эл. почта",
    message: "Сообщение",
    file: "Файл",
    again_in_seconds: |n| format!("Повторить можно через {n} с."),
    again_in_minutes: |n| format!("Повторить можно через {n} мин."),
    go_back: "Вернитесь назад в браузере: ваш текст остался в форме.",
    error_number: |n| format!("Номер ошибки: {n}"),
};
