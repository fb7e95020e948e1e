// The pages that formd itself shows, in Chromium: MODE FORMD FOLDER, with MODE one of look, languages, hostile,
// keyboard.
// `look` brings every page up, judges it by axe and an HTML validator in light and dark, wide and at 320 px, and puts
// screenshots into FOLDER; `hostile` types markup into every field; `keyboard` walks by Tab.
import { readFile } from "node:fs/promises";
import { HtmlValidate, StaticConfigLoader } from "html-validate";
import { fill, receiptOf, say, submit, withBrowser } from "./lib.mjs";

const [mode, formd, folder] = process.argv.slice(2);
const axe = await readFile(new URL("node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
const validator = new HtmlValidate(new StaticConfigLoader({ extends: ["html-validate:standard"] }));

const GOOD = [["name", "Анна"], ["email", "anna@example.com"], ["message", "Привет 🎉"]];
const ALL = [...GOOD, ["phone", "+7 900"], ["site", "https://example.org/"], ["amount", "1"], ["colour", "зелёный"], ["size", "L"],
  ["agree", "on"], ["extras", "чай"]];

// Opens a form and switches the browser's own checks off, so that the server is the one to judge.
async function open(page, path, pairs) {
  const answer = await page.goto(`${formd}${path}`);
  await page.evaluate(() => document.querySelector("form")?.setAttribute("novalidate", ""));
  await fill(page, pairs);
  return answer;
}

const setKey = (page, key) => page.evaluate((k) => { document.querySelector("[name=_key]").value = k; }, key);

// Brings a page up by what a visitor does; the answer that carried it.
const states = {
  form: (page) => open(page, "/f/acme/all", []),
  async error(page) {
    await open(page, "/f/acme/all", [["email", "no address"], ["amount", "1"], ["name", ""], ["message", "w".repeat(2000)], ["site", "not a site"]]);
    return submit(page);
  },
  async thanks(page) {
    await open(page, "/f/acme/all", ALL);
    return submit(page);
  },
  async conflict(page, pairs = ALL) {
    const key = `conflict-${Math.random()}`;
    await open(page, "/f/acme/all", ALL);
    await setKey(page, key);
    await submit(page);
    await open(page, "/f/acme/all", [...pairs, ["name", `${pairs[0][1]} changed`]]);
    await setKey(page, key);
    return submit(page);
  },
  missing: (page) => page.goto(`${formd}/f/acme/none`),
  async method(page) {
    await page.setRequestInterception(true);
    page.once("request", (request) => request.continue({ method: "PUT" }));
    return page.goto(`${formd}/f/acme/all`);
  },
  async limited(page, pairs = GOOD) {
    let answer;
    for (const turn of [1, 2]) {
      await open(page, "/f/limited/plain", [...pairs, ["name", `${pairs[0][1]} ${turn}`]]);
      answer = await submit(page);
    }
    return answer;
  },
};

const judge = () => axe.run(document, { rules: { "target-size": { enabled: true } } })
  .then((found) => found.violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.html.slice(0, 160)).join(" | ")}`));

async function look(browser, name, language = "en") {
  const page = await browser.newPage();
  await page.setExtraHTTPHeaders({ "Accept-Language": language });
  const answer = await states[name](page);
  const html = (await validator.validateString(await answer.text())).results
    .flatMap((result) => result.messages.map((m) => `${m.line}:${m.column} ${m.ruleId}: ${m.message}`));
  await page.evaluate(axe);
  for (const scheme of ["light", "dark"]) {
    for (const width of [1000, 320]) {
      await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
      await page.setViewport({ width, height: 800 });
      const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      const back = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      await page.screenshot({ path: `${folder}/page-${name}-${language}-${scheme}-${width}.png`, fullPage: true });
      const spoken = await page.evaluate(() => document.documentElement.lang);
      say({ name, scheme, width, status: answer.status(), html, axe: await page.evaluate(judge), over: Math.max(over, 0), back, spoken });
    }
  }
  await page.close();
}

const ATTACKS = [
  '<script>window.ran=1</script>', '"><img src=x onerror="window.ran=2">', "' autofocus onfocus='window.ran=3",
  "javascript:window.ran=4", "</textarea><svg onload=window.ran=5>", "</title></style><script>window.ran=6</script>",
  "{{ 7 * 7 }}{% raw %}<!--", "\u2028</form><form action=//evil.example>",
];

// What a page lets through: a script that ran, an element that no page of ours has, a dialog, a foreign address.
async function marks(page, dialogs) {
  await new Promise((done) => setTimeout(done, 200));
  const found = await page.evaluate((own) => ({
    ran: window.ran ?? null,
    strange: [...document.querySelectorAll("script,img,svg,iframe,object,[onerror],[onfocus],[onload]")].map((e) => e.outerHTML),
    forms: document.forms.length,
    links: [...document.querySelectorAll("[href],[action],[src],[formaction]")].map((e) => e.href || e.action || e.src)
      .filter((address) => address && !address.startsWith(own)),
  }), formd);
  return { ...found, dialogs: dialogs.length };
}

// Every attack in every field at once, on each page that shows what the visitor wrote. The policy of the page is
// switched off: the escaping alone has to hold.
async function hostile(browser) {
  for (const attack of ATTACKS) {
    const page = await browser.newPage();
    await page.setBypassCSP(true);
    const dialogs = [];
    page.on("dialog", (dialog) => { dialogs.push(dialog.type()); dialog.dismiss(); });
    const typed = ["name", "email", "message", "phone", "site", 'город "№ 1"'].map((name) => [name, attack]);
    await open(page, "/f/acme/all", typed);
    await page.evaluate((value) => {
      for (const control of document.querySelectorAll("input[type=number],input[type=date]")) control.type = "text";
      for (const control of document.querySelectorAll("[name=amount],[name=day],[name=source]")) control.value = value;
      for (const control of document.querySelectorAll("option,[type=radio],[type=checkbox]")) control.value = value;
      for (const option of document.querySelectorAll("option")) option.selected = true;
      for (const box of document.querySelectorAll("[type=radio],[type=checkbox]")) box.checked = true;
      const form = document.querySelector("form");
      for (const name of ["_page", "_next", "_charset_", "locale", "_language", value]) {
        const extra = document.createElement("input");
        Object.assign(extra, { type: "hidden", name, value });
        form.append(extra);
      }
    }, attack);
    const error = await submit(page);
    say({ name: "error", attack, status: error.status(), ...(await marks(page, dialogs)) });
    const kept = await page.evaluate(() => document.querySelector("[name=message]")?.value ?? null);
    say({ name: "kept", attack, equal: kept === attack });
    const conflict = await states.conflict(page, [["name", attack], ...ALL.slice(1), ["message", attack]]);
    say({ name: "conflict", attack, status: conflict.status(), ...(await marks(page, dialogs)) });
    const limited = await states.limited(page, [["name", attack], ...GOOD.slice(1), ["message", attack]]);
    say({ name: "limited", attack, status: limited.status(), ...(await marks(page, dialogs)) });
    await page.goto(`${formd}/f/acme/${encodeURIComponent(attack)}?q=${encodeURIComponent(attack)}`);
    say({ name: "address", attack, status: 404, ...(await marks(page, dialogs)) });
    await page.close();
  }
}

// Tab from the top of the page to its button; what had the focus, in order. Then Enter sends.
async function keyboard(browser) {
  const page = await browser.newPage();
  await open(page, "/f/acme/all", ALL);
  await page.evaluate(() => { document.activeElement.blur(); window.scrollTo(0, 0); });
  await page.mouse.click(1, 1);
  const reached = [];
  for (let step = 0; step < 40 && reached.at(-1) !== "submit"; step += 1) {
    await page.keyboard.press("Tab");
    const { name, seen } = await page.evaluate(() => {
      const control = document.activeElement, style = getComputedStyle(control);
      // The calendar button inside a date draws its own mark.
      return { name: control.name || control.type, seen: style.outlineStyle !== "none" || control.type === "date" };
    });
    // A date has a stop for day, month and year each.
    if (reached.at(-1) !== name) reached.push(name);
    if (!seen) say({ name: "focus not visible", control: name });
  }
  const [answer] = await Promise.all([page.waitForNavigation({ timeout: 20_000 }), page.keyboard.press("Enter")]);
  say({ name: "keyboard", reached, status: answer.status(), receipt: await receiptOf(page) });
}

await withBrowser(async ({ browser }) => {
  if (mode === "hostile") await hostile(browser);
  else if (mode === "keyboard") await keyboard(browser);
  else if (mode === "languages") for (const language of ["de", "es", "fr", "ru"]) await look(browser, "error", language);
  else for (const name of Object.keys(states)) await look(browser, name);
});
