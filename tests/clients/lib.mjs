// What the browser scripts share: one Chromium, a server for pages, a limit of time, a line of JSON for each finding.
import { createServer } from "node:http";
import puppeteer from "puppeteer-core";

const FLAGS = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
];

// Runs `act({ browser, serve })`. The pipe to Chromium ends with this process, and Chromium with the pipe.
export async function withBrowser(act) {
  setTimeout(() => { console.error("no end after 100 s"); process.exit(1); }, 100_000).unref();
  const browser = await puppeteer.launch({ executablePath: "/usr/bin/chromium", headless: true, pipe: true, args: FLAGS });
  const servers = [];
  const serve = async (pages) => {
    const server = createServer((request, answer) => {
      const page = pages[new URL(request.url, "http://x").pathname];
      answer.writeHead(page ? 200 : 404, { "Content-Type": page?.type ?? "text/html; charset=utf-8" });
      answer.end(page?.body ?? page ?? "");
    });
    await new Promise((done) => server.listen(0, "127.0.0.1", done));
    servers.push(server);
    return `http://127.0.0.1:${server.address().port}`;
  };
  try {
    await act({ browser, serve });
  } finally {
    await browser.close();
    servers.forEach((server) => { server.close(); server.closeAllConnections(); });
  }
}

export const say = (finding) => console.log(JSON.stringify(finding));

const quoted = (name) => `[name="${name.replaceAll('"', '\\"')}"]`;

// Fills a form as a visitor does: what an input method sends for texts, clicks for choices. A date has no keys that all locales share.
export async function fill(page, pairs) {
  for (const [name, value] of pairs) {
    const control = await page.$(quoted(name));
    const kind = await control.evaluate((c) => c.type);
    if (kind === "radio" || kind === "checkbox") {
      await (await page.$(`${quoted(name)}[value="${value}"]`)).click();
    } else if (kind === "select-one") {
      await control.select(value);
    } else if (kind === "hidden" || kind === "date") {
      await control.evaluate((c, v) => { c.value = v; }, value);
    } else {
      await control.evaluate((c) => { c.value = ""; });
      await control.focus();
      await page.keyboard.sendCharacter(value);
    }
  }
}

// Chooses a file through the browser's own file chooser.
export async function choose(page, file) {
  const [chooser] = await Promise.all([page.waitForFileChooser({ timeout: 10_000 }), page.click('[name="file"]')]);
  await chooser.accept([file]);
}

// Clicks and waits for the page that comes.
export async function submit(page, selector = "button[type=submit]") {
  const [answer] = await Promise.all([page.waitForNavigation({ timeout: 20_000 }), page.click(selector)]);
  return answer;
}

// The receipt on a thank-you page, else null.
export const receiptOf = (page) =>
  page.evaluate(() => document.querySelector(".receipt")?.textContent.match(/[0-9a-z]{13}$/)?.[0] ?? null);
