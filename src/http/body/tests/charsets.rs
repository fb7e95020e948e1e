//! In which charset a body is read, and what is refused rather than replaced.

use super::*;

/// Reads parts of these header lines and values.
fn parts(charset: Option<&str>, parts: &[(&str, &[u8])]) -> Result<Draft, BodyError> {
    let mut sent = Vec::new();
    for (lines, value) in parts {
        let head = lines.replace('|', "\r\nContent-Type: ");
        // One character a byte: what a page in another charset sends.
        let head: Vec<u8> = head.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect();
        sent.extend(
            [b"--X\r\nContent-Disposition: form-data; ", head.as_slice(), b"\r\n\r\n", value, b"\r\n"].concat(),
        );
    }
    sent.extend(b"--X--\r\n");
    let charset = charset.map_or(String::new(), |charset| format!("; charset={charset}"));
    let kind = ContentType::parse(format!("multipart/form-data; boundary=X{charset}").as_bytes()).unwrap();
    World::new().read_whole(&kind, sent).map(|received| received.draft.clone())
}

/// Reads an urlencoded body whose request names this charset or none.
fn pairs(charset: &str, text: &str) -> Result<Draft, BodyError> {
    let kind = ContentType::parse(format!("application/x-www-form-urlencoded{charset}").as_bytes()).unwrap();
    World::new().read_whole(&kind, text).map(|received| received.draft.clone())
}

/// Shapes and values of a draft.
fn shapes(draft: &Draft) -> Vec<(Shape, &str)> {
    draft.entries.iter().map(|entry| (entry.shape, entry.value.as_str())).collect()
}

#[test]
fn a_part_is_read_in_the_charset_that_it_names() {
    let part = |charset: &str, value: &[u8]| {
        let draft = parts(None, &[(&format!("name=a|text/plain; charset={charset}"), value)])?;
        Ok((draft.entries[0].value.clone(), draft.entries[0].shape))
    };
    assert_eq!(part("windows-1251", b"\xd2\xe5\xf1\xf2").unwrap(), ("Тест".to_owned(), Shape::Scalar));
    assert_eq!(part("us-ascii", "Тест".as_bytes()).unwrap(), ("Тест".to_owned(), Shape::Scalar));
    assert_eq!(part("\"windows-1251\"; name=\"\u{fe}\"", b"\xd2").unwrap(), ("Т".to_owned(), Shape::Scalar));
    assert_eq!(part("shift_jis", b"\x83").unwrap(), (String::new(), Shape::Undecodable));
    for charset in ["utf-16le", "utf-7", "nonsense"] {
        assert!(matches!(part(charset, b"a"), Err(BodyError::Unsupported(_))), "{charset}");
    }
}

#[test]
fn the_charset_of_the_part_comes_before_that_of_the_request_and_that_before_the_one_of_the_form() {
    let sent: [(&str, &[u8]); 4] = [
        ("name=a|text/plain; charset=koi8-r", b"\xf4"),
        ("name=b|text/plain", b"\xd2"),
        ("name=\u{d2}", b"x"),
        ("name=_charset_", b"windows-1251"),
    ];
    let draft = parts(None, &sent).unwrap();
    assert_eq!(entries(&draft), ["a=Т", "b=Т", "Т=x", "_charset_=windows-1251"]);
    let draft = parts(Some("windows-1252"), &sent).unwrap();
    assert_eq!(entries(&draft), ["a=Т", "b=Ò", "Ò=x", "_charset_=windows-1251"]);
}

#[test]
fn a_page_in_another_charset_arrives_whole_wherever_it_says_so() {
    for text in [
        "_charset_=windows-1251&%D2=%F0%E5%EF",
        "%D2=%F0%E5%EF&_charset_=windows-1251",
        "_charset_=&%D2=%F0%E5%EF&_charset_=x&_charset_=windows-1251&_charset_=koi8-r",
    ] {
        let draft = pairs("", text).unwrap();
        assert!(entries(&draft).contains(&"Т=реп".to_owned()), "{text}: {draft:?}");
    }
    assert_eq!(entries(&pairs("; charset=windows-1251", "a=%D2").unwrap()), ["a=Т"]);
    assert_eq!(entries(&pairs("; charset=utf-8", "a=%D0%A2&_charset_=koi8-r").unwrap())[0], "a=Т");
    let file: [(&str, &[u8]); 2] =
        [("name=f; filename=\"\u{e1}\u{2116}.pdf\"", PDF), ("name=_charset_", b"windows-1251")];
    let named = file.map(|(head, value)| (head.replace('\u{2116}', "\u{b9}"), value));
    let draft = parts(None, &named.each_ref().map(|(head, value)| (head.as_str(), *value))).unwrap();
    assert_eq!((draft.files[0].field.as_str(), draft.files[0].name.as_str()), ("f", "б№.pdf"));
}

#[test]
fn what_does_not_decode_is_a_fault_of_its_field_and_a_name_that_does_not_of_the_body() {
    let draft = pairs("", "a=%D2&b=x&c=%ED%A0%80").unwrap();
    let fault = (Shape::Undecodable, "");
    assert_eq!(shapes(&draft), [fault, (Shape::Scalar, "x"), fault]);
    for (charset, text) in [("", "%D2=x"), ("; charset=utf-8", "%D2=x&_charset_=koi8-r"), ("", "%D2=x&_charset_=y")] {
        assert!(matches!(pairs(charset, text), Err(BodyError::Malformed(_))), "{text}");
    }
    let file = parts(None, &[("name=\u{d2}; filename=a.pdf", PDF)]);
    assert!(matches!(file, Err(BodyError::Malformed(_))), "{file:?}");
    let shown = parts(None, &[("name=f; filename=\"\u{d2}.pdf\"", PDF)]).unwrap();
    assert_eq!(shown.files[0].name, "\u{fffd}.pdf");
}

#[test]
fn a_charset_that_nobody_knows_says_nothing_of_bytes_beyond_ascii() {
    let draft = pairs("", "a=%D0%81&b=x&_charset_=utf-16").unwrap();
    assert_eq!(shapes(&draft), [(Shape::Undecodable, ""), (Shape::Scalar, "x"), (Shape::Scalar, "utf-16")]);
}

#[test]
fn json_is_utf_8_whatever_it_says() {
    let world = World::new();
    let kind = ContentType::parse(b"application/json; charset=windows-1251").unwrap();
    let received = world.read_whole(&kind, "{\"a\": \"Т\", \"_charset_\": \"koi8-r\"}").unwrap();
    assert_eq!(received.draft.entries[0].value, "Т");
    assert!(matches!(world.read_whole(&kind, b"{\"a\": \"\xd2\"}".to_vec()), Err(BodyError::Malformed(_))));
}

#[test]
fn text_is_bounded_as_it_was_sent_and_as_it_is_kept() {
    // 40,000 bytes of windows-1251 are 120,000 of UTF-8.
    let long = format!("a={}&_charset_=windows-1251", "%B9".repeat(40_000));
    assert!(matches!(pairs("", &long), Err(BodyError::TooMuch(_))));
    let many = format!("{}_charset_=windows-1251", format!("a={}&", "%B9".repeat(20_000)).repeat(5));
    assert!(matches!(pairs("", &many), Err(BodyError::TooMuch(_))));
}

#[test]
fn a_part_that_says_twice_what_it_is_is_refused() {
    let twice = "name=a\r\nContent-Disposition: form-data; name=b; filename=c";
    assert!(matches!(parts(None, &[("name=x", b"1"), (twice, b"2")]), Err(BodyError::Malformed(_))));
    assert!(matches!(parts(None, &[("name=a|text/plain|text/html", b"1")]), Err(BodyError::Malformed(_))));
    // What stands in a value is a value.
    let value = b"Content-Disposition: form-data; name=c\r\nContent-Disposition: form-data; name=c\r\n";
    assert_eq!(parts(None, &[("name=a", value)]).unwrap().entries.len(), 1);
}
