// Chromium: SCENARIO FORMD VALUES FILE; prints {receipt} or {status}.
import { readFile } from "node:fs/promises";
import { choose, fill, receiptOf, say, submit, withBrowser } from "./lib.mjs";

const [scenario, formd, values, file] = process.argv.slice(2);
const pairs = JSON.parse(await readFile(values, "utf8"));

// A page of somebody's site with a form of every kind.
const ALL = `<!doctype html><meta charset="utf-8"><title>all</title>
<form method="post" action="${formd}/f/acme/all" enctype="multipart/form-data">
<input name="name"><input name="email" type="email"><textarea name="message"></textarea><input name="phone" type="tel">
<input name="site" type="url"><input name="amount" type="number" step="any"><input name="day" type="date">
<select name="colour"><option>красный<option>зелёный</select>
<input type="radio" name="size" value="M"><input type="radio" name="size" value="L"><input type="checkbox" name="agree" value="on">
<input type="checkbox" name="extras" value="чай"><input type="checkbox" name="extras" value="coffee &amp; cake">
<input type="hidden" name="source"><input name="город &quot;№ 1&quot;"><input type="file" name="file"><button type="submit">Send</button></form>`;

// A page of somebody's site as plain as can be; `formd.js` keeps five clicks one submission.
const CLICKS = `<!doctype html><meta charset="utf-8"><title>clicks</title><script src="${formd}/formd.js"></script>
<form data-formd method="post" action="${formd}/f/acme/plain" enctype="multipart/form-data">
<input name="name"><input name="email"><textarea name="message"></textarea><button type="submit">Send</button></form>`;

// Sends the filled form by a script of the page; the parsed answer.
const byFetch = () => {
  const form = document.querySelector("form");
  return fetch(form.action, { method: "POST", body: new FormData(form) }).then((answer) => answer.json());
};
const byXhr = () => new Promise((done, failed) => {
  const form = document.querySelector("form");
  const call = new XMLHttpRequest();
  call.open("POST", form.action);
  call.onload = () => done(JSON.parse(call.responseText));
  call.onerror = () => failed(new Error("XHR failed"));
  call.send(new FormData(form));
});

const scenarios = {
  async native(page, serve) {
    await page.goto(`${await serve({ "/": ALL })}/`);
    await fill(page, pairs);
    await choose(page, file);
    await submit(page);
    return { receipt: await receiptOf(page) };
  },
  async fetch(page, serve) {
    await page.goto(`${await serve({ "/": ALL })}/`);
    await fill(page, pairs);
    await choose(page, file);
    return page.evaluate(byFetch);
  },
  async xhr(page, serve) {
    await page.goto(`${await serve({ "/": ALL })}/`);
    await fill(page, pairs);
    await choose(page, file);
    return page.evaluate(byXhr);
  },
  async hosted(page) {
    await page.setJavaScriptEnabled(false);
    await page.goto(`${formd}/f/acme/all`);
    await fill(page, pairs);
    await choose(page, file);
    await submit(page);
    return { receipt: await receiptOf(page) };
  },
  async clicks(page, serve) {
    await page.goto(`${await serve({ "/": CLICKS })}/`);
    await fill(page, [["name", "Анна"], ["email", "anna@example.com"], ["message", "five clicks"]]);
    const { x, y } = await (await page.$("button")).clickablePoint();
    const arrived = page.waitForSelector(".receipt", { timeout: 20_000 });
    for (let click = 0; click < 5; click += 1) await page.mouse.click(x, y);
    await arrived;
    return { receipt: await receiptOf(page) };
  },
};

await withBrowser(async ({ browser, serve }) => {
  const page = await browser.newPage();
  say(await scenarios[scenario](page, serve));
});
