// Node's fetch with FormData: URL VALUES FILE; prints the answer.
import { readFile } from "node:fs/promises";
import { basename } from "node:path";

const [url, values, file] = process.argv.slice(2);
const form = new FormData();
for (const [name, value] of JSON.parse(await readFile(values, "utf8"))) form.append(name, value);
form.append("file", new Blob([await readFile(file)], { type: "application/pdf" }), basename(file));
const answer = await fetch(url, { method: "POST", body: form, signal: AbortSignal.timeout(30000) });
console.log(await answer.text());
