// Front-ends of other services, as their makers wrote or document them; only the address is formd's. FORMD; prints a
// line {name, ok, errors} for each: what the front-end believed, once for a good form and once for a bad one.
import { createClient } from "@formspree/core";

const [formd] = process.argv.slice(2);
setTimeout(() => { console.error("no end after 60 s"); process.exit(1); }, 60_000).unref();

const good = { name: "Анна", email: "anna@example.com", message: "Привет 🎉" };
const bad = { name: "", email: "not an address", message: "Привет 🎉" };

const formData = (object) => {
  const form = new FormData();
  for (const [name, value] of Object.entries(object)) form.append(name, value);
  return form;
};

// The official library of Formspree, given form data or an object.
const formspree = (dress) => async (data) => {
  const result = await createClient().submitForm("acme/formspree", dress(data), { endpoint: formd });
  if (result.kind === "success") return { ok: typeof result.next === "string" };
  return { ok: false, errors: result.getAllFieldErrors().concat(result.getFormErrors().map((e) => ["", [e]])) };
};

// web3forms.com, "HTML & JavaScript": JSON of the form, the status and `message` looked at.
const web3formsJson = async (data) => {
  const json = JSON.stringify({ access_key: "00000000-0000-4000-8000-000000000000", ...data });
  const response = await fetch(`${formd}/submit`, {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "application/json" },
    body: json,
  });
  const answer = await response.json();
  return response.status == 200 ? { ok: answer.success === true } : { ok: false, errors: [answer.message] };
};

// web3forms.com, "React": form data, `success` looked at.
const web3formsReact = async (data) => {
  const form = formData(data);
  form.append("access_key", "00000000-0000-4000-8000-000000000000");
  form.append("botcheck", "");
  const response = await fetch(`${formd}/submit`, { method: "POST", body: form });
  const answer = await response.json();
  return answer.success ? { ok: true } : { ok: false, errors: [answer.message] };
};

// formsubmit.co, "AJAX": the success is the text "true".
const formsubmit = async (data) => {
  const answer = await fetch(`${formd}/ajax/hello@acme.example`, {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "application/json" },
    body: JSON.stringify({ _subject: "New!", _captcha: "false", ...data }),
  }).then((response) => response.json());
  return answer.success === "true" ? { ok: true } : { ok: answer.success !== "false", errors: [answer.message] };
};

// formcarry.com: `code` looked at, `title` and `message` shown.
const formcarry = async (data) => {
  const response = await fetch(`${formd}/s/Abc123`, {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "application/json" },
    body: JSON.stringify(data),
  });
  const answer = await response.json();
  if (answer.code === 200 && answer.status === "success") return { ok: true };
  return { ok: answer.status !== "error", errors: [answer.message] };
};

// usebasin.com: the address ends in `.json`, `success` looked at.
const basin = async (data) => {
  const response = await fetch(`${formd}/f/acme/basin.json`, { method: "POST", body: formData(data) });
  const answer = await response.json();
  return answer.success ? { ok: response.ok } : { ok: false, errors: [String(response.status)] };
};

// docs.netlify.com, "Submit HTML forms with AJAX": urlencoded to the page's own address, only `ok` looked at.
const netlify = async (data) => {
  const response = await fetch(`${formd}/contact`, {
    method: "POST",
    headers: { "Content-Type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams({ "form-name": "contact", "bot-field": "", ...data }).toString(),
  });
  return response.ok ? { ok: true } : { ok: false, errors: [String(response.status)] };
};

const ends = {
  "formspree, form data": formspree(formData),
  "formspree, an object": formspree((data) => data),
  "web3forms, JSON": web3formsJson,
  "web3forms, React": web3formsReact,
  formsubmit, formcarry, basin, netlify,
};
let visitor = 0;
for (const [name, send] of Object.entries(ends)) {
  visitor += 1;
  console.log(JSON.stringify({ name, kind: "good", ...(await send({ ...good, email: `v${visitor}@example.com` })) }));
  console.log(JSON.stringify({ name, kind: "bad", ...(await send(bad)) }));
}
