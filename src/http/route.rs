//! From an address and a method to what answers it.
//!
//! The order is the security property: address, then method, then `Origin`, and only then anything that costs more
//! (contract 4.1). An unknown site and an unknown form are one answer.

use std::net::IpAddr;
use std::sync::Arc;

use hyper::body::Incoming;
use hyper::header::{ACCEPT_LANGUAGE, CACHE_CONTROL, HeaderValue};
use hyper::{HeaderMap, Method, Request, StatusCode};
use tokio::task::spawn_blocking;

use super::answer::{Answer, Ask, Problem, ProblemKind, Suffix, choose, encode, finish, hosted_form, page_of, reply};
use super::client_ip::Client;
use super::cors::{Cors, Own, Provenance, judge, preflight};
use super::definition::definition;
use super::head::{HeadFault, Limits, Times};
use super::listener::Peer;
use super::server::{Reply, Service, Settings};
use super::submit::{self, Target, Visit};
use super::{Inner, Shared};
use crate::config::{Config, Place};
use crate::domain::control;
use crate::domain::digest::hex;
use crate::domain::form::{Form, Site};
use crate::domain::ids::{FormId, SiteId};
use crate::domain::response::Response;
use crate::domain::shared_path::SharedPath;
use crate::domain::text::{Language, Texts};
use crate::intake::Published;

/// Between an answer and the next head: above the 60 s for which proxies keep a connection.
const IDLE: std::time::Duration = std::time::Duration::from_secs(75);
/// For a client that reads nothing of its answer.
const WRITE: std::time::Duration = std::time::Duration::from_secs(30);
/// For what a client still sends after the last answer.
const LINGER: std::time::Duration = std::time::Duration::from_secs(5);

/// The visitor's script.
const SCRIPT: &str = include_str!("../../web/formd.js");

impl Service for Shared {
    fn settings(&self) -> Settings {
        let bounds = &self.0.current.get().daemon.bounds;
        Settings {
            connections: usize::try_from(bounds.connections).unwrap_or(usize::MAX),
            limits: Limits::of(bounds),
            times: Times { head: bounds.head_time.as_duration(), idle: IDLE, write: WRITE, linger: LINGER },
        }
    }

    async fn answer(&self, request: Request<Incoming>, peer: Peer) -> Reply {
        route(self, request, peer).await
    }

    fn answer_refused(&self, request: &Request<Incoming>) -> Reply {
        let ask = plain_ask(Suffix::None, request.headers(), Cors::Any);
        let problem = match HeadFault::from_path(request.uri().path()) {
            Some(fault) => {
                tracing::debug!(fault = fault.word(), "a request's head was refused");
                Problem::new(fault.kind()).detail(fault.detail())
            }
            None => Problem::new(ProblemKind::BadRequest),
        };
        Answer::from(problem).render(&ask, &self.0.pages)
    }

    fn answer_panic(&self) -> Reply {
        let ask = plain_ask(Suffix::Json, &HeaderMap::new(), Cors::Any);
        Answer::from(internal(&self.0, &ask.texts, "a request panicked")).render(&ask, &self.0.pages)
    }
}

/// A mistake of ours: the visitor gets its number, the log the rest.
pub(super) fn internal(inner: &Inner, texts: &Texts, what: &'static str) -> Problem {
    let number = hex(&inner.clock.random::<6>());
    tracing::error!(number, "{what}");
    Problem::new(ProblemKind::Internal).say(texts.error_number(&number))
}

/// Answers one request.
async fn route(shared: &Shared, request: Request<Incoming>, peer: Peer) -> Reply {
    let config = shared.0.current.get();
    let (path, suffix) = normalize(request.uri().path());
    let path = path.to_owned();
    match path.as_str() {
        "/formd.js" => return script(&shared.0, request.method(), request.headers()),
        "/healthz" => return health(shared, request.method(), request.headers()).await,
        _ => {}
    }
    let own = Own::of(config.daemon.public_url.as_deref(), request.headers());
    let base = request.uri().path().strip_suffix("/form.json").filter(|base| base.starts_with("/f/"));
    if let Some(Place::Form(site, form)) = base.and_then(|base| config.place_at(base)) {
        let ask = ask_of(site, form, Suffix::Json, &own, request.headers());
        return definition_of(&shared.0, &config, site, form, &ask, &own, &request);
    }
    match config.place_at(&path) {
        Some(Place::Form(site, form)) => {
            at_form(shared, &config, (path, suffix), own, (site, form), request, peer).await
        }
        Some(Place::Shared(site, at)) => at_shared(shared, &config, suffix, own, (site, at), request, peer).await,
        None => lost(shared, &config, path, suffix, own, request, peer).await,
    }
}

/// The address of one form.
async fn at_form(
    shared: &Shared,
    config: &Config,
    (path, suffix): (String, Suffix),
    own: Own,
    (site, form): (&Arc<Site>, &Arc<Form>),
    request: Request<Incoming>,
    peer: Peer,
) -> Reply {
    let ask = ask_of(site, form, suffix, &own, request.headers());
    // A browser cannot sign, so a form that wants a signature has no page.
    let own_path = path == format!("/f/{}/{}", site.id, form.id);
    let hosted = own_path && suffix == Suffix::None && form.signature.is_none();
    match *request.method() {
        Method::POST => {
            let target = Target {
                address: path,
                site: site.id.clone(),
                form: Some(form.id.clone()),
                quotas: site.rate.clone(),
                published: Some(Published { site: site.clone(), form: form.clone() }),
                shared: None,
            };
            post(shared, config, target, ask, own, request, peer).await
        }
        Method::OPTIONS => options(&shared.0, Some(site), &ask, &own, request.headers()),
        Method::GET | Method::HEAD if hosted && !carries_fields(form, request.uri().query()) => {
            page(&shared.0, site, form, &ask)
        }
        _ => {
            let methods = if hosted { "GET, HEAD, POST, OPTIONS" } else { "POST, OPTIONS" };
            Answer::from(Problem::new(ProblemKind::MethodNotAllowed).allow(methods)).render(&ask, &shared.0.pages)
        }
    }
}

/// An address that forms share. The body will say which one is meant.
async fn at_shared(
    shared: &Shared,
    config: &Config,
    suffix: Suffix,
    own: Own,
    (site, path): (&Arc<Site>, &Arc<SharedPath>),
    request: Request<Incoming>,
    peer: Peer,
) -> Reply {
    let ask = ask_of_site(site, suffix, &own, request.headers());
    let visitor = language(request.headers());
    match *request.method() {
        Method::POST => {
            let target = Target {
                address: path.path.clone(),
                site: site.id.clone(),
                form: None,
                quotas: site.rate.clone(),
                published: None,
                shared: Some(submit::Shared { site: site.clone(), path: path.clone(), visitor }),
            };
            post(shared, config, target, ask, own, request, peer).await
        }
        Method::OPTIONS => options(&shared.0, Some(site), &ask, &own, request.headers()),
        _ => {
            let problem = Problem::new(ProblemKind::MethodNotAllowed).allow("POST, OPTIONS");
            Answer::from(problem).render(&ask, &shared.0.pages)
        }
    }
}

/// The address without a trailing slash and `.json`, and whether `.json` was there.
fn normalize(path: &str) -> (&str, Suffix) {
    let path = path.strip_suffix('/').unwrap_or(path);
    match path.strip_suffix(".json") {
        Some(bare) => (bare.strip_suffix('/').unwrap_or(bare), Suffix::Json),
        None => (path, Suffix::None),
    }
}

/// The language that the visitor reads best.
fn language(headers: &HeaderMap) -> Language {
    let accepted = headers.get(ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
    Language::negotiate(accepted.unwrap_or_default())
}

/// How a request wants to be answered that belongs to no site.
fn plain_ask(suffix: Suffix, headers: &HeaderMap, cors: Cors) -> Ask {
    let texts = language(headers).texts();
    Ask { format: choose(suffix, headers), texts, response: Response::Usual, page: None, cors }
}

/// How a request to a form wants to be answered: in the form's language, the site's words and the form's shape.
fn ask_of(site: &Site, form: &Form, suffix: Suffix, own: &Own, headers: &HeaderMap) -> Ask {
    Ask {
        texts: site.texts(form.locale.unwrap_or_else(|| language(headers))),
        response: form.response.clone(),
        ..ask_of_site(site, suffix, own, headers)
    }
}

/// The same where the form is not known, or not yet.
fn ask_of_site(site: &Site, suffix: Suffix, own: &Own, headers: &HeaderMap) -> Ask {
    Ask {
        texts: site.texts(site.locale.unwrap_or_else(|| language(headers))),
        page: page_of(headers, site, own),
        ..plain_ask(suffix, headers, Cors::of(Some(site), own, headers))
    }
}

/// Whether the query of a page's address carries fields of the form: then a form without `method="post"` sent them,
/// and the visitor must not believe that they arrived.
fn carries_fields(form: &Form, query: Option<&str>) -> bool {
    let names: Vec<String> = match form.fields.as_slice() {
        [] => ["name", "email", "message"].map(str::to_owned).to_vec(),
        fields => fields.iter().filter_map(|field| encode(&field.name)).map(|name| name.replace("%20", "+")).collect(),
    };
    let keys = query.unwrap_or_default().split('&').filter_map(|pair| pair.split('=').next());
    keys.into_iter().any(|key| key == control::KEY || names.iter().any(|name| name == key))
}

/// A submission, once its origin is welcome.
async fn post(
    shared: &Shared,
    config: &Config,
    target: Target,
    ask: Ask,
    own: Own,
    request: Request<Incoming>,
    peer: Peer,
) -> Reply {
    let site = target.published.as_ref().map(|published| published.site.as_ref()).or_else(|| {
        // The form is gone, but its site may still say who posts.
        config.sites.get(&target.site).map(AsRef::as_ref)
    });
    if site.is_some_and(|site| judge(site, &own, request.headers()) == Provenance::Foreign) {
        let form = target.form.as_ref().map(FormId::as_str);
        tracing::info!(site = %target.site, form, outcome = "origin_refused", "submission");
        return Answer::from(Problem::new(ProblemKind::OriginRefused)).render(&ask, &shared.0.pages);
    }
    let is_trusted = |address: &IpAddr| config.daemon.trusted_proxies.iter().any(|net| net.contains(address));
    let client = Client::behind(peer, request.headers(), is_trusted);
    submit::submit(shared, &config.daemon.bounds, target, Visit { ask, own, client }, request).await
}

/// An address that no form has. A repeat is still answered where receipts came in before; anything else is unknown.
async fn lost(
    shared: &Shared,
    config: &Config,
    path: String,
    suffix: Suffix,
    own: Own,
    request: Request<Incoming>,
    peer: Peer,
) -> Reply {
    let plain = plain_ask(suffix, request.headers(), Cors::Any);
    let unknown = || Answer::from(Problem::new(ProblemKind::NotFound)).render(&plain, &shared.0.pages);
    if !matches!(*request.method(), Method::POST | Method::OPTIONS) {
        return unknown();
    }
    let Some((site_id, form_id)) = remembered(shared, path.clone()).await else { return unknown() };
    let site = config.sites.get(&site_id);
    let ask = match site {
        Some(site) => ask_of_site(site, suffix, &own, request.headers()),
        None => plain,
    };
    if *request.method() == Method::OPTIONS {
        return options(&shared.0, site.map(AsRef::as_ref), &ask, &own, request.headers());
    }
    let quotas = site.map_or_else(submit::usual_quotas, |site| site.rate.clone());
    let form = Some(form_id);
    let target = Target { address: path, site: site_id, form, quotas, published: None, shared: None };
    post(shared, config, target, ask, own, request, peer).await
}

/// Site and form of an address under which receipts exist.
async fn remembered(shared: &Shared, path: String) -> Option<(SiteId, FormId)> {
    let store = shared.0.store.clone();
    let found = spawn_blocking(move || store.find_address(&path)).await;
    match found {
        Ok(Ok(found)) => found,
        Ok(Err(error)) => {
            tracing::error!(%error, "an address could not be looked up");
            None
        }
        Err(_) => None,
    }
}

/// A preflight, where the origin is welcome.
fn options(inner: &Inner, site: Option<&Site>, ask: &Ask, own: &Own, headers: &HeaderMap) -> Reply {
    if site.is_some_and(|site| judge(site, own, headers) == Provenance::Foreign) {
        return Answer::from(Problem::new(ProblemKind::OriginRefused)).render(ask, &inner.pages);
    }
    finish(preflight(headers), &ask.cors)
}

/// `form.json` of a form.
fn definition_of(
    inner: &Inner,
    config: &Config,
    site: &Site,
    form: &Form,
    ask: &Ask,
    own: &Own,
    request: &Request<Incoming>,
) -> Reply {
    let daemon = &config.daemon;
    match *request.method() {
        Method::GET | Method::HEAD => definition(site, form, daemon.public_url.as_deref(), &daemon.bounds, ask),
        Method::OPTIONS => options(inner, Some(site), ask, own, request.headers()),
        _ => Answer::from(Problem::new(ProblemKind::MethodNotAllowed).allow("GET, HEAD, OPTIONS"))
            .render(ask, &inner.pages),
    }
}

/// The hosted page of a form, or the news that it is closed.
fn page(inner: &Inner, site: &Site, form: &Form, ask: &Ask) -> Reply {
    if !(site.enabled && site.accept && form.accept) {
        return Answer::from(Problem::new(ProblemKind::Closed)).render(ask, &inner.pages);
    }
    let key = submit::fresh_key(&inner.clock);
    finish(hosted_form(form, &key, &ask.texts, &inner.pages), &ask.cors)
}

/// `GET /formd.js`.
fn script(inner: &Inner, method: &Method, headers: &HeaderMap) -> Reply {
    if !matches!(*method, Method::GET | Method::HEAD) {
        return wrong_method(inner, headers);
    }
    let mut reply = finish(reply(StatusCode::OK, "text/javascript; charset=utf-8", SCRIPT), &Cors::Any);
    reply.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("public, max-age=3600"));
    reply
}

/// `GET /healthz`: whether the database answers.
async fn health(shared: &Shared, method: &Method, headers: &HeaderMap) -> Reply {
    if !matches!(*method, Method::GET | Method::HEAD) {
        return wrong_method(&shared.0, headers);
    }
    let store = shared.0.store.clone();
    let (status, text) = match spawn_blocking(move || store.ping()).await {
        Ok(Ok(())) => (StatusCode::OK, "ok\n"),
        Ok(Err(error)) => {
            tracing::error!(%error, "the database does not answer");
            (StatusCode::SERVICE_UNAVAILABLE, "the database does not answer\n")
        }
        Err(_) => (StatusCode::SERVICE_UNAVAILABLE, "the database does not answer\n"),
    };
    let mut reply = reply(status, "text/plain; charset=utf-8", text);
    reply.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    reply
}

/// Neither GET nor HEAD where nothing else helps.
fn wrong_method(inner: &Inner, headers: &HeaderMap) -> Reply {
    let ask = plain_ask(Suffix::None, headers, Cors::Any);
    Answer::from(Problem::new(ProblemKind::MethodNotAllowed).allow("GET, HEAD")).render(&ask, &inner.pages)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slash_or_json_at_the_end_is_the_same_address() {
        for (path, bare, suffix) in [
            ("/f/acme/quote", "/f/acme/quote", Suffix::None),
            ("/f/acme/quote/", "/f/acme/quote", Suffix::None),
            ("/f/acme/quote.json", "/f/acme/quote", Suffix::Json),
            ("/f/acme/quote.json/", "/f/acme/quote", Suffix::Json),
            ("/f/acme/quote/.json", "/f/acme/quote", Suffix::Json),
            ("/", "", Suffix::None),
            ("//", "/", Suffix::None),
        ] {
            assert_eq!(normalize(path), (bare, suffix), "{path}");
        }
    }
}
