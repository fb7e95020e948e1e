// Chromium on pages in windows-1251: FORMD FILE; prints {name, status, receipt} for each way such a page can be written.
// The page's bytes are windows-1251 too: its own words are Cyrillic, and a field's name is.
import { choose, fill, receiptOf, say, submit, withBrowser } from "./lib.mjs";

const [formd, file] = process.argv.slice(2);
const pairs = [["name", "Анна Ёлкина"], ["email", "anna@example.com"], ["message", "Съешь ещё — №5 «да»\nвторая строка"], ["город", "Київ"]];

// windows-1251 of the characters used here.
function encode(text) {
  const odd = { "Ё": 0xa8, "ё": 0xb8, "І": 0xb2, "і": 0xb3, "ї": 0xbf, "№": 0xb9, "«": 0xab, "»": 0xbb, "—": 0x97 };
  return Buffer.from([...text].map((c) => {
    const code = c.codePointAt(0);
    return code < 0x80 ? code : odd[c] ?? code - 0x410 + 0xc0;
  }));
}

const page1251 = (meta, form, fields, enctype) => encode(`<!doctype html>${meta}<title>Страница</title>
<form method="post" action="${formd}/f/acme/plain" enctype="${enctype}" ${form}>${fields}
<input name="name"><input name="email"><textarea name="message"></textarea><input name="город">
<input type="file" name="file"><button type="submit">Отправить</button></form>`);

const META = '<meta charset="windows-1251">';
const CHARSET = '<input type="hidden" name="_charset_">';
const MULTIPART = "multipart/form-data", URLENCODED = "application/x-www-form-urlencoded";
const ways = [
  ["multipart that names its charset", META, "", CHARSET, MULTIPART],
  ["urlencoded that names its charset", META, "", CHARSET, URLENCODED],
  ["charset of the page in its header", "", "", CHARSET, MULTIPART, "text/html; charset=windows-1251"],
  ["multipart with accept-charset", META, 'accept-charset="utf-8"', "", MULTIPART],
  ["urlencoded with accept-charset", META, 'accept-charset="utf-8"', "", URLENCODED],
  ["multipart that names nothing", META, "", "", MULTIPART],
  ["urlencoded that names nothing", META, "", "", URLENCODED],
];

await withBrowser(async ({ browser, serve }) => {
  for (const [name, meta, form, fields, enctype, type] of ways) {
    const page = await browser.newPage();
    const origin = await serve({ "/": { type: type ?? "text/html", body: page1251(meta, form, fields, enctype) } });
    await page.goto(`${origin}/`);
    // The visitor differs from way to way, so that no way is the repeat of another.
    await fill(page, [...pairs, ["email", `visitor${ways.findIndex((way) => way[0] === name)}@example.com`]]);
    if (enctype === MULTIPART) await choose(page, file);
    const answer = await submit(page);
    say({ name, status: answer.status(), receipt: await receiptOf(page) });
    await page.close();
  }
});
