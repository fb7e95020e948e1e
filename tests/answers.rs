//! What a front-end is told: shapes of other services, the site's own words, the way back, and what to do about a file.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::missing_docs_in_private_items,
    clippy::cast_precision_loss,
    reason = "a test ends where it fails, and its name is its documentation"
)]

mod common;

use common::client::{Multipart, Request};
use common::{World, submission};
use serde_json::{Value, json};

/// Posts to a form of the site `acme` as a script does.
fn fetch(world: &World, form: &str, body: &Multipart) -> (u16, Value) {
    let request = body.post(&format!("/f/acme/{form}")).header("Accept", "application/json");
    let answer = world.send(&request);
    (answer.status, answer.json())
}

/// One form a preset, and two of the operator's own.
fn presets() -> World {
    let field = |form: &str| {
        format!(
            "[[form.{form}.field]]\nname = \"email\"\nlabel = \"Mail\"\nkind = \"email\"\nrequired = true\n\
             [[form.{form}.field]]\nname = \"name\"\nkind = \"text\"\n"
        )
    };
    let names = ["netlify", "formspree", "web3forms", "formsubmit", "formcarry", "basin"];
    let presets = names.map(|name| format!("[form.{name}]\nresponse = \"{name}\"\n{}", field(name)));
    let own = format!(
        "[form.own]\nresponse = {{ success = '{{\"ok\":true,\"id\":{{{{receipt}}}}}}', \
         error = '{{\"ok\":false,\"message\":{{{{message}}}},\"errors\":{{{{errors}}}},\"s\":{{{{status}}}}}}', \
         error_status = 400 }}\n{}",
        field("own")
    );
    World::with("", &format!("{}{own}", presets.join("")))
}

#[test]
fn the_front_ends_of_six_services_recognise_success() {
    let world = presets();
    let good = Multipart::default().field("email", "anna@example.com");
    let success = |form: &str| {
        let (status, body) = fetch(&world, form, &good);
        assert_eq!(status, 200, "{form}: {body}");
        assert!(body.get("errors").is_none(), "{form}: even an empty list is a failure to some");
        body
    };
    success("netlify");
    assert!(success("formspree")["next"].is_string(), "its library wants a string");
    assert_eq!(success("web3forms")["success"], true);
    assert_eq!(success("formsubmit")["success"], "true");
    let formcarry = success("formcarry");
    assert_eq!((&formcarry["code"], &formcarry["status"]), (&json!(200), &json!("success")));
    assert_eq!(success("basin")["success"], true);
    let own = success("own");
    assert_eq!(own["ok"], true);
    assert_eq!(own["id"].as_str().map(str::len), Some(13), "{own}");
}

#[test]
fn the_front_ends_of_six_services_recognise_an_error_and_say_what_is_wrong() {
    let world = presets();
    let bad = Multipart::default().field("email", "no address");
    let said = "“Mail” is not an e-mail address: please check it. For example: name@example.com";
    for form in ["netlify", "web3forms", "formsubmit", "formcarry", "basin"] {
        let (status, body) = fetch(&world, form, &bad);
        assert_eq!((status, &body["message"]), (422, &json!(said)), "{form}");
    }
    let (_, body) = fetch(&world, "formspree", &bad);
    assert_eq!(body["errors"], json!([{"code": "TYPE_EMAIL", "field": "email", "message": said}]));
    assert!(body["error"].is_string());
    assert_eq!(fetch(&world, "formsubmit", &bad).1["success"], "false");
    assert_eq!(fetch(&world, "web3forms", &bad).1["success"], false);
    assert_eq!(fetch(&world, "formcarry", &bad).1["code"], 422);
    let (status, own) = fetch(&world, "own", &bad);
    assert_eq!((status, &own["s"], &own["errors"][0]["code"]), (400, &json!(400), &json!("email")));
}

#[test]
fn a_browser_is_sent_to_a_page_of_the_site_and_never_elsewhere() {
    let world = World::with("origins = [\"https://acme.example\"]\n", &format!("[form.quote]\n{}", common::FIELDS));
    let go = |name: &str, wish: &str| {
        let person = Multipart::default().field("name", wish).field("email", "anna@example.com");
        let request = person.field(name, wish).post("/f/acme/quote").header("Accept", "text/html");
        let answer = world.send(&request.header("Referer", "https://acme.example/contact/form.html?x=1"));
        if answer.status == 200 {
            assert!(answer.body.contains("href=\"https://acme.example/contact/form.html?x=1\""), "the way back");
        }
        (answer.status, answer.header("Location").map(str::to_owned))
    };
    for (name, wish, place) in [
        ("_next", "/thanks", "https://acme.example/thanks"),
        ("_redirect", "thanks.html", "https://acme.example/contact/thanks.html"),
        ("redirect", "https://acme.example/danke", "https://acme.example/danke"),
    ] {
        assert_eq!(go(name, wish), (303, Some(place.to_owned())), "{name}");
    }
    for wish in ["https://evil.example/", "//evil.example/", "/\\evil.example", "javascript:alert(1)"] {
        assert_eq!(go("_next", wish), (200, None), "{wish}");
    }
}

#[test]
fn a_form_that_was_sent_with_get_is_told_what_it_lacks() {
    let world = World::new();
    let get = |path: &str| world.send(&Request::new("GET", path).header("Accept", "text/html"));
    let wrong = get("/f/acme/quote?name=Anna&email=a%40b.example");
    assert_eq!(wrong.status, 405);
    assert!(wrong.body.contains("method=&quot;post&quot;") && !wrong.body.contains("Anna"), "{}", wrong.body);
    assert_eq!(get("/f/acme/quote?utm_source=mail").status, 200, "a link may carry what it likes");
    world.assert_nothing_kept();
}

#[test]
fn a_front_end_reads_the_form_in_the_sites_words() {
    let site =
        "origins = [\"https://acme.example\"]\n[texts.de]\nsend = \"Los geht’s\"\nrequired = \"{label} fehlt.\"\n";
    let world = World::with(site, &format!("[form.quote]\ntitle = \"Quote\"\n{}", common::FIELDS));
    let get = Request::new("GET", "/f/acme/quote/form.json").header("Accept-Language", "de-AT");
    let answer = world.send(&get.header("Origin", "https://acme.example"));
    assert_eq!((answer.status, answer.header("Access-Control-Allow-Origin")), (200, Some("https://acme.example")));
    let form = answer.json();
    assert_eq!((&form["texts"]["send"], &form["title"]), (&json!("Los geht’s"), &json!("Quote")));
    assert_eq!(form["fields"][0]["messages"]["required"], "Имя fehlt.");
    assert_eq!(form["fields"][3]["types"], json!([".pdf"]));
    for word in ["sales", "crm", common::HOOK_SECRET, "hooks"] {
        assert!(!answer.body.contains(word), "{word}");
    }
    let post = submission().post("/f/acme/quote/form.json");
    assert_eq!(world.send(&post).status, 405);
    assert_eq!(world.send(&Request::new("GET", "/f/acme/nothing/form.json")).status, 404);
    let page = world.send(&Request::new("GET", "/f/acme/quote").header("Accept-Language", "de"));
    assert!(page.body.contains("lang=\"de\"") && page.body.contains(">Los geht’s</button>"), "{}", page.body);
}

#[test]
fn a_file_that_is_close_to_one_that_is_taken_is_named_with_its_remedy_in_the_visitors_language() {
    let world = World::with("", "[form.photo]\naccept_files = true\n");
    let sample = |name: &str| {
        let path = format!("{}/tests/data/files/{name}", env!("CARGO_MANIFEST_DIR"));
        std::fs::read(path).unwrap()
    };
    for (language, file, message, hint) in [
        ("en", "heic-named.jpg", "is an HEIC photo", "as JPEG"),
        ("de", "doc-named.docx", "altes Office-Format", "DOCX oder PDF"),
        ("fr", "encrypted-cfb.docx", "protégé par un mot de passe", "sans mot de passe"),
        ("es", "xlsm-named.xlsx", "contiene macros", "XLSX o PDF"),
        ("ru", "zip-named.docx", "архив", "отправьте сами файлы"),
        ("en", "bomb.xlsx", "packed too tightly", "save it anew"),
        ("de", "xltx-named.xlsx", "Vorlage", "XLSX oder PDF"),
        ("fr", "svg-named.png", "dessin SVG", "PNG ou PDF"),
        ("es", "exe-named.txt", "es un programa", "Se aceptan PNG"),
        ("ru", "html-named.pdf", "веб-страница", "как PDF"),
    ] {
        let body = Multipart::default().file("photo", file, "application/octet-stream", &sample(file));
        let request = body.post("/f/acme/photo").header("Accept", "application/json");
        let answer = world.send(&request.header("Accept-Language", language));
        let error = &answer.json()["errors"][0];
        let said = |member: &str| error[member].as_str().unwrap_or_default().to_owned();
        assert_eq!((answer.status, said("code").as_str()), (422, "file_type"), "{file}");
        assert!(said("message").contains(message) && said("message").contains(file), "{file}: {error}");
        assert!(said("hint").contains(hint), "{file}: {error}");
    }
    world.assert_nothing_kept();
}
