//! Mails to visitors: who gets one, how many there are, what they say. The promise to strangers: whatever anybody posts,
//! nobody's mailbox is flooded, and no words but the operator's and a few harmless ones arrive in it.

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

use std::collections::BTreeSet;
use std::sync::Barrier;
use std::thread;

use common::World;
use common::client::{Answer, Multipart};
use common::peers::Smtp;
use formd::harness::Span;

/// A form that confirms; `section` are the keys of its confirmation behind `to`.
fn form(section: &str) -> String {
    format!(
        "[form.quote]\ntitle = \"Quote\"\nconsent = \"agree\"\n\
         field = [\n\
         {{ name = \"name\", label = \"Name\" }},\n\
         {{ name = \"email\", label = \"E-mail\", kind = \"email\" }},\n\
         {{ name = \"message\", kind = \"textarea\" }},\n\
         {{ name = \"agree\", label = \"I agree\", kind = \"checkbox\" }},\n\
         {{ name = \"file\", kind = \"file\" }},\n]\n\
         [form.quote.confirmation]\nto = \"email\"\n{section}"
    )
}

/// A world whose form confirms and tells nobody else.
fn confirming(section: &str) -> World {
    World::with("", &form(section).replace("title =", "destinations = []\ntitle ="))
}

/// A submission with consent.
fn agreed(email: &str) -> Multipart {
    Multipart::default().field("name", "Anna").field("email", email).field("message", "Hello").field("agree", "on")
}

/// How many confirmations there are.
fn confirmed(world: &World) -> i64 {
    world.count("SELECT count(*) FROM deliveries WHERE channel = 'confirmation'")
}

/// Everything of an answer that is not the receipt's own number.
fn shape(answer: &Answer) -> String {
    let receipt = answer.receipt();
    let headers: Vec<&str> = answer.headers.iter().map(|(name, _)| name.as_str()).collect();
    format!("{} {headers:?} {}", answer.status, answer.body.replace(&receipt, "RECEIPT"))
}

#[test]
fn a_thousand_posts_with_one_victims_address_make_one_confirmation_a_day() {
    let world = confirming("");
    let spellings = [
        "victim.name@gmail.com",
        "VictimName@GMAIL.com",
        "v.i.c.t.i.m.n.a.m.e@googlemail.com",
        "victimname+spam{n}@gmail.com",
        "victim.name+{n}@GoogleMail.com",
    ];
    let barrier = Barrier::new(5);
    let shapes: Vec<BTreeSet<String>> = thread::scope(|scope| {
        let posting: Vec<_> = (0..5)
            .map(|client| {
                let (world, barrier) = (&world, &barrier);
                scope.spawn(move || {
                    barrier.wait();
                    let post = |n: usize| {
                        let address = spellings[(client + n) % 5].replace("{n}", &n.to_string());
                        shape(&world.post(&agreed(&address), Some(&format!("key-{client}-{n}"))))
                    };
                    (0..200).map(post).collect()
                })
            })
            .collect();
        posting.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(world.count("SELECT count(*) FROM receipts"), 1000);
    assert_eq!(confirmed(&world), 1);
    let shapes: BTreeSet<String> = shapes.into_iter().flatten().collect();
    assert_eq!(shapes.len(), 1, "one answer for all: {shapes:#?}");
    assert_eq!(world.deliver(), 1);
    assert_eq!(world.mail.mails().len(), 1);

    world.pass(Span::from_millis(Span::from_hours(24).as_millis() - 1));
    let _ = world.post(&agreed("victimname@gmail.com"), Some("late")).receipt();
    assert_eq!(confirmed(&world), 1, "still the same day");
    world.pass(Span::from_millis(1));
    let _ = world.ctl(&["sweep"]).ok();
    let next_day = world.post(&agreed("victimname@gmail.com"), Some("later"));
    assert!(shapes.contains(&shape(&next_day)), "and the answer is the same again");
    assert_eq!(confirmed(&world), 2);
    assert_eq!(world.count("SELECT count(*) FROM confirmations"), 1);
}

#[test]
fn the_hour_has_a_budget_for_all_sites_and_forms_together() {
    let world = World::with_daemon("confirmations_per_hour = 3\n", "", &form(""));
    let answers: Vec<Answer> =
        (0..5).map(|n| world.post(&agreed(&format!("v{n}@home.example")), Some(&format!("k{n}")))).collect();
    assert_eq!(confirmed(&world), 3);
    assert_eq!(answers.iter().map(shape).collect::<BTreeSet<_>>().len(), 1, "nobody sees the budget");
    let beyond = answers[4].receipt();
    assert_eq!(world.states(&beyond), ["email pending 0", "webhook pending 0"], "the operator hears of all of them");
    world.pass(Span::from_hours(1));
    let later = world.post(&agreed("v9@home.example"), Some("k9")).receipt();
    assert_eq!(world.states(&later), ["email pending 0", "webhook pending 0", "confirmation pending 0"]);
}

#[test]
fn without_consent_or_a_plain_address_there_is_none() {
    let world = confirming("");
    let without = Multipart::default().field("name", "Anna").field("email", "anna@home.example");
    let none = without.clone().field("agree", "");
    let unticked = world.post(&without, None);
    for (n, body) in [
        none,
        Multipart::default().field("agree", "on"),
        agreed("anna@localhost"),
        agreed("forms@example.com"),
        agreed("Forms+x@EXAMPLE.com"),
        agreed("mailer-daemon@home.example"),
        agreed("no-reply@home.example"),
    ]
    .iter()
    .enumerate()
    {
        let answer = world.post(body, Some(&format!("k{n}")));
        assert_eq!(shape(&answer), shape(&unticked), "{n}");
    }
    assert_eq!(confirmed(&world), 0);
    assert_eq!(world.deliver(), 0);
    assert_eq!(world.post(&agreed("a@home.example,b@home.example"), None).status, 422);
}

#[test]
fn the_mail_is_the_operators_with_a_stable_id_and_without_files() {
    let world = confirming(
        "subject = \"Got it, {{name}}\"\ntext = \"Dear {{name}},\\nwe have your request {{@receipt}} from {{email}}.\\n\"\n",
    );
    world.mail.script(&[Smtp::Greylist, Smtp::Accept]);
    let body = agreed("anna@home.example").pdf("plan.pdf", &common::client::pdf("plan", 2000));
    let receipt = world.post(&body, None).receipt();
    assert_eq!(world.deliver(), 1);
    assert_eq!(world.states(&receipt), ["confirmation retrying 1"]);
    world.pass(Span::from_minutes(1));
    assert_eq!(world.deliver(), 1);
    assert_eq!(world.states(&receipt), ["confirmation delivered 2"]);
    let mail = world.mail.mails().remove(0);
    insta::assert_snapshot!(mail.replace("\r\n", "\n").replace(&receipt, "RECEIPT"), @r"
    From: Forms <forms@example.com>
    To: anna@home.example
    Subject: Got it, Anna
    Date: Mon, 30 Nov 2026 12:00:00 +0000
    Message-ID: <RECEIPT-d1@example.com>
    Auto-Submitted: auto-replied
    MIME-Version: 1.0
    Content-Type: text/plain; charset=utf-8
    Content-Transfer-Encoding: 7bit

    Dear Anna,
    we have your request RECEIPT from anna@home.example.
    ");
}

#[test]
fn a_standard_mail_speaks_the_visitors_language_in_the_sites_words() {
    let world = World::with("[texts.de]\nthanks_title = \"Servus!\"\n", &form(""));
    let request = |language: &str, address: &str| {
        let request = agreed(address).post("/f/acme/quote").header("Accept", "application/json");
        world.send(&request.header("Accept-Language", language)).receipt()
    };
    let (english, german) = (request("en", "anna@home.example"), request("de", "bert@home.example"));
    world.deliver();
    let mails = world.mail.mails();
    let of = |address: &str| mails.iter().find(|mail| mail.contains(&format!("To: {address}\r\n"))).unwrap();
    let read = |mail: &str| {
        let mail = mail_parser::MessageParser::default().parse(mail.as_bytes()).unwrap().into_owned();
        format!("{}\n\n{}", mail.subject().unwrap(), mail.body_text(0).unwrap().replace("\r\n", "\n").trim_end())
    };
    insta::assert_snapshot!(read(of("anna@home.example")).replace(&english, "RECEIPT"), @r"
    We have received your message — Quote

    Thank you!

    Your message has arrived safely.
    Your receipt number: RECEIPT

    This mail was sent automatically because this address was entered in a form on our website.
    If it was not you, there is nothing you need to do.
    ");
    let said = read(of("bert@home.example"));
    assert!(said.starts_with("Wir haben Ihre Nachricht erhalten — Quote\n\nServus!\n\n"), "{said}");
    assert!(said.contains(&format!("Ihre Vorgangsnummer: {german}\n")), "{said}");
}

#[test]
fn two_first_posts_at_once_and_any_repeat_make_one() {
    let world = confirming("");
    let barrier = Barrier::new(2);
    thread::scope(|scope| {
        for key in ["one", "two"] {
            let (world, barrier) = (&world, &barrier);
            scope.spawn(move || {
                barrier.wait();
                world.post(&agreed("anna@home.example"), Some(key)).receipt()
            });
        }
    });
    assert_eq!((world.count("SELECT count(*) FROM receipts"), confirmed(&world)), (2, 1));
    world.pass(Span::from_days(2));
    let repeat = world.post(&agreed("anna@home.example"), Some("one"));
    assert_eq!(repeat.header("Idempotent-Replayed"), Some("true"));
    assert_eq!(confirmed(&world), 1, "a repeat is no new submission, however late");
}

#[test]
fn lists_show_a_confirmation_like_any_delivery_and_erasure_leaves_nothing_of_it() {
    let world = World::with("", &form("text = \"Marker of {{name}}\"\n"));
    world.mail.script(&[Smtp::Unknown]);
    let receipt = world.post(&agreed("anna.of.traces@home.example"), None).receipt();
    let delivery = world.show(&receipt)["deliveries"][2].clone();
    assert_eq!(
        (delivery["channel"].as_str(), delivery["destination"].as_str()),
        (Some("confirmation"), Some("confirmation"))
    );
    assert_eq!(delivery["target"], "anna.of.traces@home.example");
    world.deliver();
    assert_eq!(world.show(&receipt)["deliveries"][2]["state"], "retrying");
    let _ = world.ctl(&["resend", delivery["id"].as_str().unwrap()]).ok();
    assert_eq!(world.show(&receipt)["deliveries"][2]["attempts"], 0);

    let _ = world.ctl(&["erase", "--yes", &receipt]).ok();
    let delivery = world.show(&receipt)["deliveries"][2].clone();
    assert_eq!((&delivery["target"], delivery["reason"].as_str()), (&serde_json::Value::Null, Some("values_gone")));
    for marker in ["anna.of.traces@home.example", "annaoftraces", "Marker of"] {
        assert_eq!(world.traces(marker), Vec::<String>::new(), "{marker}");
    }
    let again = world.post(&agreed("anna.of.traces@home.example"), Some("again")).receipt();
    assert_eq!(world.states(&again).len(), 2, "erasing gives nobody a second one");
}

#[test]
fn a_form_that_only_confirms_still_tells_nobody() {
    let world = confirming("");
    let receipt = world.post(&agreed("anna@home.example"), None).receipt();
    assert_eq!(world.states(&receipt), ["confirmation pending 0"]);
    let status: serde_json::Value = serde_json::from_str(&world.ctl(&["status", "--json"]).stdout).unwrap();
    assert_eq!(status["untold_forms"], serde_json::json!(["acme/quote"]));
}

#[test]
fn a_confirmation_that_was_switched_off_ends_what_waits_and_is_made_no_more() {
    let world = confirming("");
    let before = world.post(&agreed("anna@home.example"), None).receipt();
    let with = form("");
    let (off, _) = with.split_once("[form.quote.confirmation]").unwrap();
    world.write_site("", &off.replace("title =", "destinations = []\ntitle ="));
    world.reload().unwrap();
    let after = world.post(&agreed("bert@home.example"), None).receipt();
    assert_eq!((world.deliver(), world.mail.mails().len()), (0, 0));
    assert_eq!(world.states(&before), ["confirmation failed 0"]);
    assert_eq!(world.show(&before)["deliveries"][0]["reason"], "destination_inactive");
    assert_eq!(world.states(&after), Vec::<String>::new());
}
