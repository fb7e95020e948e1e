//! A page that posted to a hosted form service changes its address, and nothing else.

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

use common::client::{Answer, Multipart, Request, pdf, urlencode};
use common::{FIELDS, World};

const URLENCODED: &str = "application/x-www-form-urlencoded";

/// The values of a receipt as `name=value`.
fn values(world: &World, receipt: &str) -> Vec<String> {
    let shown = world.show(receipt);
    let text = |value: &serde_json::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let values = shown["values"].as_array().unwrap();
    values.iter().map(|v| format!("{}={}", v["name"].as_str().unwrap(), text(&v["value"]))).collect()
}

fn form_of(world: &World, receipt: &str) -> String {
    world.show(receipt)["form"].as_str().unwrap().to_owned()
}

/// The same fields in all three bodies.
fn three_ways(path: &str, pairs: &[(&str, &str)]) -> [Request; 3] {
    let multipart = pairs.iter().fold(Multipart::default(), |all, (name, value)| all.field(name, value));
    let object: serde_json::Map<String, serde_json::Value> =
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())).collect();
    let json = serde_json::Value::Object(object).to_string();
    let new = || Request::new("POST", path);
    [new().body(URLENCODED, urlencode(pairs)), multipart.post(path), new().body("application/json", json)]
        .map(|request| request.header("Accept", "application/json"))
}

fn code(answer: &Answer) -> (u16, String) {
    (answer.status, answer.json()["code"].as_str().unwrap_or_default().to_owned())
}

/// A form without declared fields and one with, behind `/`, told apart as Netlify's are.
fn netlify() -> World {
    let shared = "[[shared_path]]\npath = \"/\"\nselector = \"form-name\"\n";
    World::with(shared, &format!("[form.contact]\n[form.quote]\n{FIELDS}"))
}

#[test]
fn netlify_pages_post_to_the_root_and_name_their_form() {
    let world = netlify();
    for request in three_ways("/", &[("form-name", "contact"), ("bot-field", ""), ("name", "Ann"), ("message", "Hi")]) {
        let receipt = world.send(&request).receipt();
        assert_eq!(form_of(&world, &receipt), "contact");
        assert_eq!(values(&world, &receipt), ["name=Ann", "message=Hi"]);
    }
    let quote = [("form-name", "quote"), ("name", "Ann"), ("email", "ann@example.com")];
    let [urlencoded, ..] = three_ways("/?no-cache=1", &quote);
    assert_eq!(form_of(&world, &world.send(&urlencoded).receipt()), "quote");
    let file = Multipart::default().field("name", "Ann").field("email", "ann@example.com");
    let file = file.pdf("plan.pdf", &pdf("netlify", 20_000)).field("form-name", "quote");
    let receipt = world.send(&file.post("/").header("Accept", "application/json")).receipt();
    assert_eq!(world.show(&receipt)["attachments"][0]["name"], "plan.pdf");
}

#[test]
fn the_form_that_is_named_has_its_own_rules() {
    let world = netlify();
    let [_, _, json] = three_ways("/", &[("form-name", "quote"), ("name", "")]);
    let answer = world.send(&json);
    assert_eq!(answer.faults(), ["name:required", "email:required"]);
    let html = Multipart::default().field("form-name", "contact").field("name", "A").pdf("x.pdf", &pdf("x", 2000));
    let answer = world.send(&html.post("/").header("Accept", "application/json"));
    assert_eq!(answer.faults(), ["file:unknown_file"], "this form takes no files, though its neighbour does");
    world.write_site(
        "[[shared_path]]\npath = \"/\"\nselector = \"form-name\"\n",
        "[form.contact]\naccept = false\n[form.quote]\n",
    );
    world.reload().unwrap();
    let [urlencoded, ..] = three_ways("/", &[("form-name", "contact"), ("name", "Ann")]);
    assert_eq!(code(&world.send(&urlencoded)), (403, "form_closed".to_owned()));
}

#[test]
fn a_name_that_no_form_has_is_an_address_without_one() {
    let world = netlify();
    for pairs in [&[("name", "Ann")][..], &[("form-name", "")], &[("form-name", "nobody")], &[("form-name", "no id")]] {
        for request in three_ways("/", pairs) {
            assert_eq!(code(&world.send(&request)), (404, "not_found".to_owned()), "{pairs:?}");
        }
    }
    let get = world.send(&Request::new("GET", "/"));
    assert_eq!((get.status, get.header("Allow")), (405, Some("POST, OPTIONS")));
    assert_eq!(world.send(&Request::new("OPTIONS", "/").header("Origin", "https://a.example")).status, 204);
    world.assert_nothing_kept();
}

#[test]
fn a_page_from_a_shared_address_is_shown_again_with_what_selects_its_form() {
    let world = netlify();
    let body = urlencode(&[("form-name", "quote"), ("name", "Ann"), ("email", "no address")]);
    let request = Request::new("POST", "/").body(URLENCODED, body).header("Sec-Fetch-Mode", "navigate");
    let answer = world.send(&request);
    assert_eq!(answer.status, 422);
    assert!(answer.body.contains(r#"name="form-name" value="quote""#), "{}", answer.body);
}

#[test]
fn a_repeat_to_a_shared_address_is_the_same_submission_even_over_the_limit_or_without_its_form() {
    let site = "rate = [\"2/h\"]\n[[shared_path]]\npath = \"/\"\nselector = \"form-name\"\n";
    let world = World::with(site, "[form.a]\n[form.b]\n");
    let post = |form: &str, name: &str, key: &str| {
        let [urlencoded, ..] = three_ways("/", &[("form-name", form), ("name", name)]);
        world.send(&urlencoded.header("Idempotency-Key", key))
    };
    let first = post("b", "Ann", "k").receipt();
    let other = post("a", "Ann", "k").receipt();
    assert_ne!(first, other, "a key belongs to one form");
    for (form, receipt) in [("a", &other), ("b", &first)] {
        assert_eq!(post(form, "Ann", "k").receipt(), *receipt);
    }
    assert_eq!(post("a", "Ben", "k").status, 429);
    assert_eq!(post("a", "Ann", "new").status, 429);
    let in_field = urlencode(&[("_key", "k"), ("form-name", "a"), ("name", "Ann")]);
    let request = Request::new("POST", "/").body(URLENCODED, in_field).header("Accept", "application/json");
    assert_eq!(world.send(&request).receipt(), other);
    world.write_site(&site.replace("2/h", "99/h"), "[form.b]\n");
    world.reload().unwrap();
    assert_eq!(post("a", "Ann", "k").receipt(), other, "the form is gone, its receipt is not");
    assert_eq!(post("a", "Ann", "unknown").status, 404);
}

#[test]
fn formspree_pages_keep_the_path_they_had() {
    let world = World::with("", "[form.contact]\npaths = [\"/f/xyzabcde\", \"/p/17/f/contact\"]\n");
    for path in ["/f/xyzabcde", "/f/xyzabcde/", "/f/xyzabcde.json", "/p/17/f/contact"] {
        for request in
            three_ways(path, &[("_gotcha", ""), ("email", "ann@example.com"), ("_subject", "x"), ("message", path)])
        {
            let receipt = world.send(&request.header("Formspree-Client", "x")).receipt();
            assert_eq!(values(&world, &receipt), ["email=ann@example.com".to_owned(), format!("message={path}")]);
        }
    }
    assert_eq!(world.send(&Request::new("POST", "/f/other").body(URLENCODED, "a=1")).status, 404);
}

#[test]
fn web3forms_pages_carry_a_key_that_stands_for_their_form() {
    let site = "[[shared_path]]\npath = \"/submit\"\nselector = \"access_key\"\n[shared_path.values]\n\
                \"7d0b1c1e-1111-4222-8333-944455556666\" = \"contact\"\nold-key = \"contact\"\n";
    let world = World::with(site, "[form.contact]\n[form.hidden]\n");
    for key in ["7d0b1c1e-1111-4222-8333-944455556666", "old-key"] {
        let json = format!(
            "{{\"access_key\":\"{key}\",\"botcheck\":false,\"name\":\"Ann\",\"from_name\":\"Web\",\"n\":1.50,\"ok\":true,\"x\":null}}"
        );
        let receipt = world.send(&Request::new("POST", "/submit").body("application/json", json)).receipt();
        assert_eq!(values(&world, &receipt), ["name=Ann", "from_name=Web", "n=1.50", "ok=true"]);
    }
    for key in ["", "hidden", "contact", "7D0B1C1E-1111-4222-8333-944455556666"] {
        for request in three_ways("/submit", &[("access_key", key), ("name", "Ann")]) {
            assert_eq!(code(&world.send(&request)), (404, "not_found".to_owned()), "{key}");
        }
    }
}

#[test]
fn formsubmit_pages_post_to_an_address_that_looks_like_a_mail_address() {
    let world = World::with("", "[form.contact]\npaths = [\"/you@acme.example\", \"/ajax/you@acme.example\"]\n");
    let pairs =
        [("_honey", ""), ("_captcha", "false"), ("_template", "table"), ("_cc", "x@evil.example"), ("name", "Ann")];
    for path in ["/you@acme.example", "/ajax/you@acme.example"] {
        for request in three_ways(path, &pairs) {
            assert_eq!(values(&world, &world.send(&request).receipt()), ["name=Ann"]);
        }
    }
}

#[test]
fn staticman_pages_wrap_their_fields() {
    let form = "[form.comment]\nunwrap = \"fields\"\npaths = [\"/v3/entry/github/acme/site/main/comments\"]\n\
                [[form.comment.field]]\nname = \"name\"\nrequired = true\n\
                [[form.comment.field]]\nname = \"tags\"\nkind = \"checkboxes\"\noptions = [\"a\", \"b\"]\n";
    let world = World::with("", form);
    let path = "/v3/entry/github/acme/site/main/comments";
    let urlencoded = urlencode(&[
        ("options[slug]", "post"),
        ("fields[name]", "Ann"),
        ("fields[tags][]", "a"),
        ("fields[tags][]", "b"),
    ]);
    let multipart =
        Multipart::default().field("fields[name]", "Ann").field("fields[tags]", "a").field("fields[tags]", "b");
    let json = r#"{"fields":{"name":"Ann","tags":["a","b"]}}"#;
    let new = || Request::new("POST", path).header("Accept", "application/json");
    for request in [
        new().body(URLENCODED, urlencoded),
        multipart.post(path).header("Accept", "application/json"),
        new().body("application/json", json),
    ] {
        let receipt = world.send(&request).receipt();
        assert_eq!(values(&world, &receipt)[..2], ["name=Ann".to_owned(), r#"tags=["a","b"]"#.to_owned()]);
    }
    let other = world.send(&new().body("application/json", r#"{"fields":{"name":"Ann"},"options":{"slug":"x"}}"#));
    assert_eq!(other.faults(), ["options:nested"]);
    let twice = world.send(&new().body("application/json", r#"{"fields":{"name":"Ann","name":"Ben"}}"#));
    assert_eq!(twice.status, 400);
    let deep = world.send(&new().body("application/json", r#"{"fields":{"name":{"a":1}}}"#));
    assert_eq!(deep.faults(), ["name:nested"]);
    let page = Request::new("POST", path).header("Sec-Fetch-Mode", "navigate");
    let answer = world.send(&page.body(URLENCODED, urlencode(&[("fields[name]", " "), ("fields[tags]", "b")])));
    assert_eq!(answer.status, 422);
    assert!(answer.body.contains(r#"value="b" checked"#), "{}", answer.body);
}

#[test]
fn an_object_in_a_body_is_a_fault_where_no_form_asks_for_one() {
    let world = World::new();
    let body = r#"{"name":"Ann","email":"ann@example.com","message":{"a":1,"b":[2]},"more":{}}"#;
    let answer = world.send(&Request::new("POST", "/f/acme/quote").body("application/json", body));
    assert_eq!(answer.faults(), ["message:nested", "more:nested"]);
}

#[test]
fn a_list_of_ticks_comes_with_brackets_or_without() {
    let form = "[form.order]\n[[form.order.field]]\nname = \"colour\"\nkind = \"checkboxes\"\noptions = [\"red\", \"green\", \"blue\"]\n";
    let world = World::with("", form);
    let path = "/f/acme/order";
    let mut receipts = Vec::new();
    for name in ["colour", "colour[]"] {
        let pairs = [(name, "green"), (name, "red")];
        let [urlencoded, multipart, _] = three_ways(path, &pairs);
        let json = Request::new("POST", path).body("application/json", format!(r#"{{"{name}":["green","red"]}}"#));
        for request in [urlencoded, multipart, json] {
            let receipt = world.send(&request).receipt();
            assert_eq!(values(&world, &receipt), [r#"colour=["green","red"]"#]);
            receipts.push(receipt);
        }
    }
    receipts.dedup();
    assert_eq!(receipts.len(), 2, "sent at once in three ways it is one message; with another name another");
}

#[test]
fn a_form_without_declared_fields_takes_what_comes_in_the_senders_order() {
    let world = World::with("", "[form.any]\naccept_files = true\n");
    let pairs =
        [("z", "1"), ("Имя", "Анна"), ("a b", "2"), ("utm_source", "mail"), ("submit", "Send"), ("_next", "/x")];
    for suffix in ["", "/", ".json"] {
        for request in three_ways(&format!("/f/acme/any{suffix}"), &pairs) {
            let receipt = world.send(&request.header("Idempotency-Key", suffix)).receipt();
            let values = values(&world, &receipt);
            let mut sorted = values.clone();
            sorted.sort();
            assert_eq!(sorted, ["a b=2", "submit=Send", "utm_source=mail", "z=1", "Имя=Анна"]);
        }
    }
    let file = Multipart::default().field("z", "1").pdf("plan.pdf", &pdf("any", 3000)).post("/f/acme/any.json");
    assert_eq!(world.show(&world.send(&file).receipt())["attachments"][0]["name"], "plan.pdf");
}

#[test]
fn a_selector_of_ones_own_steers_and_is_not_stored_but_counts_in_the_content() {
    let site = "[[shared_path]]\npath = \"/send\"\nselector = \"which form\"\n";
    let world = World::with(site, "[form.a]\n[form.b]\n");
    let [urlencoded, multipart, json] = three_ways("/send", &[("which form", "a"), ("name", "Ann")]);
    let receipt = world.send(&urlencoded).receipt();
    assert_eq!(values(&world, &receipt), ["name=Ann"]);
    assert_eq!(world.send(&multipart).receipt(), receipt);
    assert_eq!(world.send(&json).receipt(), receipt);
    let direct = |pairs: &[(&str, &str)]| {
        let [urlencoded, ..] = three_ways("/f/acme/a", pairs);
        world.send(&urlencoded.header("Idempotency-Key", "k"))
    };
    assert_eq!(values(&world, &direct(&[("which form", "x"), ("name", "Ann")]).receipt()), ["name=Ann"]);
    assert_eq!(code(&direct(&[("which form", "y"), ("name", "Ann")])), (409, "key_conflict".to_owned()));
}
