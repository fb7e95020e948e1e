// Formspree's library in Chromium, on a page of another origin: its own headers make the browser ask first. FORMD;
// prints {kind} for a good form and for a bad one.
import { readFile } from "node:fs/promises";
import { say, withBrowser } from "./lib.mjs";

const [formd] = process.argv.slice(2);
const library = await readFile(new URL("node_modules/@formspree/core/dist/index.mjs", import.meta.url));

const submit = async (endpoint, name) => {
  const { createClient } = await import("/core.mjs");
  const form = new FormData();
  form.append("name", name);
  form.append("email", "anna@example.com");
  const result = await createClient().submitForm("acme/formspree", form, { endpoint, clientName: "page@1" });
  return { kind: result.kind, fields: result.kind === "error" ? result.getAllFieldErrors() : [] };
};

await withBrowser(async ({ browser, serve }) => {
  const origin = await serve({ "/": "<!doctype html><title>page</title>", "/core.mjs": { type: "text/javascript", body: library } });
  const page = await browser.newPage();
  await page.goto(`${origin}/`);
  say(await page.evaluate(submit, formd, "Анна"));
  say(await page.evaluate(submit, formd, ""));
});
